# SPDX-License-Identifier: Apache-2.0
# narrow.sh: on a phone no page scrolls sideways, and the search finds rows (needs Chromium).
. "$ISOMER_TEST_COMMON"
here=$1
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    skip "there is no Chromium: install chromium"
cd "$scratch"

# asks PAGE: the page says how wide its contents are and what a search finds. Windows are at least
# 500 pixels wide; a frame may be as narrow as a phone.
asks() {
    sed 's|</body>|<script>addEventListener("load", function () {\
        var wide = document.documentElement.scrollWidth;\
        document.querySelectorAll("details").forEach(function (d) { d.open = true; });\
        var open = document.documentElement.scrollWidth, query = document.getElementById("query");\
        query.value = "cuda gemm f32"; query.form.requestSubmit();\
        parent.postMessage("wide " + wide + " open " + open + " found " +\
            document.getElementById("found").textContent + " shown " +\
            document.querySelectorAll(".rows td:first-child").length, "*"); });</script></body>|' \
        "$1" >asking.html
    cat >frame.html <<'END'
<!doctype html><iframe src="asking.html" width="390" height="844"></iframe>
<script>addEventListener("message", function (e) { document.title = e.data; });</script>
END
    timeout 100 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$scratch/profile" \
        --virtual-time-budget=5000 --dump-dom "file://$scratch/frame.html" 2>err |
        sed -n 's|.*<title>\(.*\)</title>.*|\1|p'
}

python3 "$here/document.py" >a.json
"$tool" report a.json -o a.html 2>err || fail "$(cat err)"
"$tool" report "$here/../../bench/results/bench-full-h200.json" -o full.html || fail "full.html"
for page in a full; do
    said=$(asks $page.html)
    say "$page: $said"
    case $said in
    "wide 390 open 390 found "[1-9]*" of "*) ;;
    *) fail "$page.html on a phone: $said" ;;
    esac
done
