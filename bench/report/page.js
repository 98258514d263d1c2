/* SPDX-License-Identifier: Apache-2.0 */
/* page.js - the search over all rows, and saving a figure as SVG or PDF. Text is taken from the
 * page and set as text, never as markup. */
(function () {
    'use strict';

    function all(selector, within) {
        return Array.prototype.slice.call((within || document).querySelectorAll(selector));
    }

    function make(tag, text, parent) {
        var element = document.createElement(tag);
        element.textContent = text;
        parent.appendChild(element);
        return element;
    }

    /* ---- search ------------------------------------------------------------------------------- */

    /* The rows of all tables with the words by which they are found; made at the first search. */
    function index() {
        var rows = [];
        all('details.rows').forEach(function (table) {
            var section = table.parentNode, words = section.id.slice(3);
            var title = section.querySelector('h2').textContent;
            all('tbody', table).forEach(function (group) {
                var head = title + ' ' + words + ' ' + group.rows[0].textContent;
                for (var i = 1; i < group.rows.length; i++) {
                    var row = group.rows[i], text = head;
                    for (var c = 0; c < row.cells.length; c++)
                        text += ' ' + row.cells[c].textContent;
                    rows.push({row: row, group: group, table: table, 
                               text: text.toLowerCase().replace(/\u00a0/g, ' ')});
                }
            });
        });
        return rows;
    }

    function search() {
        var form = document.getElementById('search'), query = document.getElementById('query');
        var found = document.getElementById('found'), rows = null, timer = 0;

        function run() {
            var words = query.value.toLowerCase().split(/\s+/).filter(Boolean), count = 0;
            if (!words.length && !rows)
                return;
            rows = rows || index();
            rows.forEach(function (r) {
                r.group.hits = r.table.hits = 0;
            });
            rows.forEach(function (r) {
                var hit = words.every(function (word) { return r.text.indexOf(word) >= 0; });
                r.row.hidden = !hit;
                r.group.hits += hit;
                r.table.hits += hit;
                count += hit;
            });
            rows.forEach(function (r) {
                r.group.hidden = !r.group.hits;
            });
            all('details.rows').forEach(function (table) {
                table.open = words.length > 0 && table.hits > 0;
                table.parentNode.classList.toggle('none', !table.hits);
            });
            document.body.classList.toggle('searching', words.length > 0);
            found.textContent = words.length ? count + ' of ' + rows.length : '';
        }

        form.hidden = false;
        form.addEventListener('submit', function (event) {
            event.preventDefault();
            run();
        });
        query.addEventListener('input', function () {
            clearTimeout(timer);
            timer = setTimeout(run, 120);
        });
        document.addEventListener('keydown', function (event) {
            if (event.key === '/' && document.activeElement !== query) {
                event.preventDefault();
                query.focus();
            } else if (event.key === 'Escape' && query.value) {
                query.value = '';
                run();
            }
        });
    }

    /* ---- figures ------------------------------------------------------------------------------ */

    var PAINT = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap',
                 'stroke-linejoin', 'opacity', 'color', 'font-size', 'font-weight', 'font-family',
                 'text-anchor'];

    function shownOf(figure) {
        return all('svg', figure).filter(function (svg) {
            return getComputedStyle(svg).display !== 'none';
        })[0];
    }

    /* Saves the figure that is seen, with its colours written into it. */
    function saveSvg(figure) {
        var from = shownOf(figure), copy = from.cloneNode(true);
        var here = [from].concat(all('*', from)), there = [copy].concat(all('*', copy));
        here.forEach(function (element, i) {
            var style = getComputedStyle(element);
            there[i].removeAttribute('class');
            there[i].setAttribute('style', PAINT.map(function (name) {
                return name + ':' + style.getPropertyValue(name);
            }).join(';'));
        });
        copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
        copy.style.background = getComputedStyle(document.body).backgroundColor;
        var text = new XMLSerializer().serializeToString(copy);
        var link = document.createElement('a');
        link.href = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
        link.download = figure.id + '.svg';
        link.click();
        setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    }

    /* Prints only this figure, on a page of its size. */
    function savePdf(figure) {
        var size = all('svg', figure)[0].viewBox.baseVal, section = figure.parentNode;
        var style = make('style', '@page { size: ' + size.width + 'px ' + (size.height + 2) +
                                  'px; margin: 0 }', document.head);
        document.body.classList.add('one');
        section.classList.add('holds');
        figure.classList.add('chosen');
        window.addEventListener('afterprint', function () {
            document.body.classList.remove('one');
            section.classList.remove('holds');
            figure.classList.remove('chosen');
            style.remove();
        }, {once: true});
        window.print();
    }

    function buttons(figure) {
        var place = make('div', '', figure), name = figure.querySelector('b').textContent;
        place.className = 'save';
        [['SVG', saveSvg], ['PDF', savePdf]].forEach(function (way) {
            var button = make('button', way[0], place);
            button.type = 'button';
            button.setAttribute('aria-label', 'Save the figure \u201c' + name + '\u201d as ' + way[0]);
            button.addEventListener('click', function () { way[1](figure); });
        });
    }

    search();
    all('figure').forEach(buttons);
})();
