# SPDX-License-Identifier: Apache-2.0
# paper.sh FOLDER [latex]: the fonts of the PDF figures and the size of their text; with "latex", the
# figures in a two-column LaTeX page.
. "$ISOMER_TEST_COMMON"
here=$1 latex=${2:-}
need python3 python3
need pdffonts poppler-utils
cd "$scratch"
fonts_leak
"$tool" report "$source_dir/bench/results/bench-quick-epyc.json" --figures figures 2>err ||
    { cat err; fail "isomer report --figures"; }
! grep -q 'install libcairo2' err || skip "libcairo.so.2 is not here: install libcairo2"
[ ! -s err ] || fail "it complains: $(cat err)"

for file in figures/*.pdf; do
    [ "$(head -c 5 "$file")" = %PDF- ] || fail "$file is not a PDF"
    pdffonts "$file" >fonts
    [ "$(wc -l <fonts)" -gt 2 ] || fail "$file has no fonts"
    # The columns "emb sub uni" come before the object's two numbers.
    awk 'NR > 2 && $(NF - 4) != "yes" { exit 1 }' fonts || fail "$file: $(cat fonts)"
    # pdftotext gives the height of each word's line, which is at least the size of its text.
    pdftotext -bbox "$file" words.html
    python3 "$here/figures.py" words words.html "$file" || fail "$file"
done

[ -n "$latex" ] || exit 0
need pdflatex texlive-latex-base
cat >page.tex <<'END'
\documentclass[twocolumn]{article}
\usepackage{graphicx}
\setlength\textwidth{7in}\setlength\columnsep{0.2in}\setlength\textheight{9.5in}
\setlength\oddsidemargin{-0.25in}\setlength\topmargin{-0.7in}
\begin{document}
\begin{figure*}\includegraphics{figures/rate-gemm-2col}\caption{Two columns.}\end{figure*}
\begin{figure}\includegraphics{figures/overview-1col}\caption{One column.}\end{figure}
\begin{figure}\includegraphics{figures/rate-reduce-1col}\caption{One column.}\end{figure}
Text beside the figures.
\end{document}
END
pdflatex -interaction=nonstopmode -halt-on-error page.tex >log || { cat log; fail "pdflatex"; }
! grep 'Overfull' log || fail "a figure is wider than its column"
pages=$(pdfinfo page.pdf | sed -n 's/^Pages: *//p')
[ "$pages" -le 2 ] || fail "$pages pages"
pdffonts page.pdf | awk 'NR > 2 && $(NF - 4) != "yes" { exit 1 }' || fail "$(pdffonts page.pdf)"
