/* SPDX-License-Identifier: Apache-2.0 */
/* page.js - theme, values of points, samples, sorting and filtering. Text is taken from the page and
 * set as text, never as markup. */
(function () {
    'use strict';
    var SVG = 'http://www.w3.org/2000/svg';
    var root = document.documentElement;

    function make(tag, attributes, text) {
        var element = document.createElement(tag);
        for (var name in attributes)
            element.setAttribute(name, attributes[name]);
        if (text !== undefined)
            element.textContent = text;
        return element;
    }

    function draw(parent, tag, attributes, text) {
        var element = document.createElementNS(SVG, tag);
        for (var name in attributes)
            element.setAttribute(name, attributes[name]);
        if (text !== undefined)
            element.textContent = text;
        parent.appendChild(element);
        return element;
    }

    function all(selector, within) {
        return Array.prototype.slice.call((within || document).querySelectorAll(selector));
    }

    /* ---- theme -------------------------------------------------------------------------------- */

    function theme() {
        var place = document.getElementById('theme');
        var dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
        var button = make('button', {type: 'button'});
        function now() {
            var set = root.getAttribute('data-theme');
            return set ? set === 'dark' : dark;
        }
        function name() {
            button.textContent = now() ? 'Light' : 'Dark';
            button.setAttribute('aria-label', 'Change to ' + (now() ? 'light' : 'dark'));
        }
        function fromHash() {
            if (location.hash === '#dark' || location.hash === '#light')
                root.setAttribute('data-theme', location.hash.slice(1));
            name();
        }
        button.addEventListener('click', function () {
            root.setAttribute('data-theme', now() ? 'light' : 'dark');
            name();
        });
        window.addEventListener('hashchange', fromHash);
        place.appendChild(button);
        fromHash();
    }

    /* ---- values of points --------------------------------------------------------------------- */

    var tip = make('div', {id: 'tip', role: 'status', hidden: ''});

    function show(point) {
        var box = point.getBoundingClientRect();
        tip.textContent = point.getAttribute('data-tip');
        tip.hidden = false;
        var left = box.left + box.width / 2 - tip.offsetWidth / 2;
        left = Math.max(8, Math.min(left, root.clientWidth - tip.offsetWidth - 8));
        var top = box.top - tip.offsetHeight - 8;
        if (top < 50)
            top = box.bottom + 8;
        tip.style.left = left + window.scrollX + 'px';
        tip.style.top = top + window.scrollY + 'px';
    }

    function hide() {
        tip.hidden = true;
    }

    function points(svg) {
        var list = all('.pt', svg), at = -1;
        list.forEach(function (point) {
            var title = point.querySelector('title');
            point.setAttribute('data-tip', title.textContent);
            point.removeChild(title); /* otherwise the browser shows it too */
            point.addEventListener('mouseenter', function () { show(point); });
            point.addEventListener('mouseleave', hide);
            point.addEventListener('click', function () { show(point); });
        });
        function leave() {
            if (list[at])
                list[at].classList.remove('on');
        }
        svg.addEventListener('keydown', function (event) {
            var step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
            if (event.key === 'Escape')
                hide();
            if (!step || !list.length)
                return;
            event.preventDefault();
            leave();
            at = (at + step + list.length) % list.length;
            list[at].classList.add('on');
            show(list[at]);
        });
        svg.addEventListener('blur', function () {
            leave();
            hide();
        });
    }

    function legend(list) {
        var svg = list.parentNode.querySelector('svg.plotted');
        if (!svg)
            return;
        function choose(item, only) {
            var series = item.getAttribute('data-s');
            all('.plot', svg).forEach(function (plot) {
                plot.classList.toggle('chosen', plot.getAttribute('data-s') === series);
            });
            svg.classList.toggle('faded', only);
        }
        function fixed() {
            return list.querySelector('.chosen');
        }
        all('li', list).forEach(function (item) {
            item.setAttribute('role', 'button');
            item.setAttribute('tabindex', '0');
            item.setAttribute('aria-pressed', 'false');
            function toggle() {
                var before = fixed();
                all('li', list).forEach(function (other) {
                    var on = other === item && before !== item;
                    other.classList.toggle('chosen', on);
                    other.setAttribute('aria-pressed', on ? 'true' : 'false');
                });
                choose(item, before !== item);
            }
            item.addEventListener('mouseenter', function () { choose(item, true); });
            item.addEventListener('mouseleave', function () {
                choose(fixed() || item, fixed() !== null);
            });
            item.addEventListener('click', toggle);
            item.addEventListener('keydown', function (event) {
                if (event.key === 'Enter' || event.key === ' ') {
                    event.preventDefault();
                    toggle();
                }
            });
        });
    }

    /* ---- samples ------------------------------------------------------------------------------ */

    function time(ns) {
        var units = [[1e9, ' s'], [1e6, ' ms'], [1e3, ' \u00b5s'], [1, ' ns']];
        for (var i = 0; i < 3 && ns < units[i][0]; i++)
            ;
        return parseFloat((ns / units[i][0]).toPrecision(4)) + units[i][1];
    }

    function median(values) {
        var sorted = values.slice().sort(function (a, b) { return a - b; });
        var half = sorted.length >> 1;
        return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    /* Ticks at round values between low and high. */
    function ticks(low, high, count) {
        var step = Math.pow(10, Math.floor(Math.log10((high - low) / count)));
        var list = [], rest = (high - low) / count / step;
        step *= rest > 5 ? 10 : rest > 2 ? 5 : rest > 1 ? 2 : 1;
        for (var at = Math.ceil(low / step) * step; at <= high; at += step)
            list.push(at);
        return list;
    }

    function strip(place, sample, label) {
        var W = 1120, H = 340, L = 84, T = 14, B = 44, wide = 760, bars = 230;
        var rounds = sample.s.map(function (round) {
            return round.map(function (d) { return sample.m * (1 + d / 1e4); });
        }).filter(function (round) { return round.length; });
        var flat = [].concat.apply([], rounds);
        var low = Math.min(sample.l, Math.min.apply(null, flat));
        var high = Math.max(sample.h, Math.max.apply(null, flat));
        var room = (high - low) * 0.06 || high * 0.01;
        low -= room;
        high += room;
        function y(value) { return T + (high - value) / (high - low) * (H - T - B); }
        var svg = draw(place, 'svg', {viewBox: '0 0 ' + W + ' ' + H, role: 'img'});
        svg.setAttribute('aria-label', label + ': ' + flat.length + ' samples in ' + rounds.length +
            ' rounds, median ' + time(sample.m) + ', from ' + time(Math.min.apply(null, flat)) +
            ' to ' + time(Math.max.apply(null, flat)));
        ticks(low, high, 6).forEach(function (value) {
            draw(svg, 'path', {d: 'M' + L + ' ' + y(value) + 'H' + W, stroke: 'var(--grid)'});
            draw(svg, 'text', {x: L - 8, y: y(value) + 4, 'text-anchor': 'end'}, time(value));
        });
        draw(svg, 'rect', {x: L, width: wide, y: y(sample.h), fill: 'var(--bar)', opacity: 0.7,
            height: Math.max(1, y(sample.l) - y(sample.h))});
        draw(svg, 'path', {d: 'M' + L + ' ' + y(sample.m) + 'h' + wide, stroke: 'var(--c0)'});
        var step = wide / rounds.length, every = Math.ceil(rounds.length / 20);
        rounds.forEach(function (round, i) {
            var x = L + step * (i + 0.5), half = Math.min(step * 0.38, 26);
            round.forEach(function (value, j) {
                var off = ((j * 0.618034) % 1 - 0.5) * 1.6 * half;
                draw(svg, 'circle', {cx: x + off, cy: y(value), r: 2.4, fill: 'var(--c0)',
                    'fill-opacity': 0.55});
            });
            draw(svg, 'path', {d: 'M' + (x - half) + ' ' + y(median(round)) + 'h' + 2 * half,
                stroke: 'var(--c1)', 'stroke-width': 2});
            if (i % every === 0)
                draw(svg, 'text', {x: x, y: H - B + 18, 'text-anchor': 'middle'}, i + 1);
        });
        draw(svg, 'text', {x: L + wide / 2, y: H - 6, 'text-anchor': 'middle'}, 'round');
        var bins = Math.max(8, Math.min(40, Math.ceil(2 * Math.pow(flat.length, 1 / 3)) * 2));
        var counts = new Array(bins).fill(0);
        flat.forEach(function (value) {
            counts[Math.min(bins - 1, Math.floor((value - low) / (high - low) * bins))]++;
        });
        var most = Math.max.apply(null, counts), tall = (H - T - B) / bins;
        counts.forEach(function (count, i) {
            if (count)
                draw(svg, 'rect', {x: L + wide + 30, y: H - B - (i + 1) * tall + 0.5,
                    width: bars * count / most, height: Math.max(0.5, tall - 1), fill: 'var(--c0)',
                    'fill-opacity': 0.8});
        });
        draw(svg, 'text', {x: L + wide + 30, y: H - 6}, 'samples: ' + flat.length);
    }

    var showSamples = null;

    function samples() {
        var place = document.getElementById('strip');
        var holder = document.getElementById('samples-data');
        if (!place || !holder)
            return;
        var data = JSON.parse(holder.textContent);
        var controls = make('div', {'class': 'controls'});
        var choice = make('select', {'aria-label': 'Case whose samples are shown'});
        var box = make('div', {'class': 'scroll', tabindex: '0', role: 'region',
            'aria-label': 'Samples'});
        Object.keys(data).forEach(function (key) {
            var cells = document.getElementById('r' + key).cells;
            choice.appendChild(make('option', {value: key}, cells[0].textContent + ', ' +
                cells[1].textContent + ', ' + cells[2].textContent + ' \u2013 ' +
                cells[3].textContent));
        });
        function update() {
            box.textContent = '';
            if (choice.value)
                strip(box, data[choice.value], choice.options[choice.selectedIndex].text);
        }
        function turn(step) {
            var count = choice.options.length;
            choice.selectedIndex = (choice.selectedIndex + step + count) % count;
            update();
        }
        var back = make('button', {type: 'button', 'aria-label': 'Case before'}, '\u2190');
        var next = make('button', {type: 'button', 'aria-label': 'Next case'}, '\u2192');
        back.addEventListener('click', function () { turn(-1); });
        next.addEventListener('click', function () { turn(1); });
        choice.addEventListener('change', update);
        [choice, back, next].forEach(function (item) { controls.appendChild(item); });
        place.appendChild(controls);
        place.appendChild(box);
        update();
        showSamples = function (key) {
            choice.value = key;
            update();
            document.getElementById('samples').scrollIntoView();
        };
        all('#all tbody tr.ok').forEach(function (row) {
            var key = row.id.slice(1);
            if (!(key in data))
                return;
            var button = make('button', {type: 'button', 'class': 'show',
                'aria-label': 'Show the samples of this row'}, '\u2026');
            button.title = 'its samples';
            button.addEventListener('click', function () { showSamples(key); });
            row.cells[5].appendChild(document.createTextNode(' '));
            row.cells[5].appendChild(button);
        });
    }

    /* ---- the table ---------------------------------------------------------------------------- */

    /* A row that is not ok has one cell with the reason instead of the numbers. */
    function value(row, column, columns) {
        var fewer = columns - row.cells.length;
        if (fewer && column >= 5)
            column = column - fewer > 5 ? column - fewer : 5;
        var cell = row.cells[column];
        if (!cell || cell.classList.contains('reason'))
            return null;
        var number = cell.getAttribute('data-v');
        if (number !== null)
            return parseFloat(number);
        return cell.classList.contains('n') ? null : cell.textContent.trim();
    }

    /* Rows without a value come last in both directions. */
    function order(a, b, way) {
        if (a === null || b === null)
            return (a === null) - (b === null);
        if (typeof a === 'number' && typeof b === 'number')
            return (a - b) * way;
        return String(a).localeCompare(String(b)) * way;
    }

    function sorting(table) {
        var body = table.tBodies[0], heads = all('thead th', table);
        heads.forEach(function (head, column) {
            /* Not a button element: browsers do not print buttons in repeated headings. */
            var button = make('span', {role: 'button', tabindex: '0'}, head.textContent);
            head.textContent = '';
            head.appendChild(button);
            button.addEventListener('keydown', function (event) {
                if (event.key === 'Enter' || event.key === ' ') {
                    event.preventDefault();
                    button.click();
                }
            });
            button.addEventListener('click', function () {
                var way = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
                heads.forEach(function (other) { other.removeAttribute('aria-sort'); });
                head.setAttribute('aria-sort', way > 0 ? 'ascending' : 'descending');
                all('tr', body).map(function (row, i) {
                    return {row: row, value: value(row, column, heads.length), at: i};
                }).sort(function (a, b) {
                    return order(a.value, b.value, way) || a.at - b.at;
                }).forEach(function (item) { body.appendChild(item.row); });
            });
        });
    }

    function filtering(table) {
        var place = document.getElementById('filter'), rows = all('tbody tr', table);
        var words = make('input', {type: 'search', placeholder: 'Filter: words',
            'aria-label': 'Show rows with these words'});
        var count = make('small', {role: 'status'});
        var texts = rows.map(function (row) {
            return (row.textContent + ' ' + row.title).toLowerCase();
        });
        var selects = [[0, 'operations'], [1, 'variants'], [3, 'devices'], [4, 'states']].map(
            function (pair) {
                var select = make('select', {'aria-label': 'Only these ' + pair[1]}), seen = {};
                select.appendChild(make('option', {value: ''}, 'all ' + pair[1]));
                rows.forEach(function (row) {
                    var text = row.cells[pair[0]].textContent;
                    if (!Object.prototype.hasOwnProperty.call(seen, text))
                        select.appendChild(make('option', {value: text}, text));
                    seen[text] = true;
                });
                select.setAttribute('data-column', pair[0]);
                select.addEventListener('change', update);
                return select;
            });
        function update() {
            var wanted = words.value.toLowerCase().split(/\s+/), shown = 0;
            rows.forEach(function (row, i) {
                var on = wanted.every(function (word) { return texts[i].indexOf(word) >= 0; }) &&
                    selects.every(function (select) {
                        var column = +select.getAttribute('data-column');
                        return !select.value || row.cells[column].textContent === select.value;
                    });
                row.hidden = !on;
                shown += on;
            });
            count.textContent = shown + ' of ' + rows.length;
        }
        words.addEventListener('input', update);
        [words].concat(selects, [count]).forEach(function (item) { place.appendChild(item); });
        place.hidden = false;
        update();
    }

    theme();
    document.body.appendChild(tip);
    document.addEventListener('scroll', hide, true);
    all('svg.plotted').forEach(points);
    all('ul.legend').forEach(legend);
    var table = document.getElementById('all');
    filtering(table);
    sorting(table);
    samples();
    all('nav a').forEach(function (link) { /* remove links to missing sections */
        if (!document.getElementById(link.getAttribute('href').slice(1)))
            link.parentNode.removeChild(link);
    });
}());
