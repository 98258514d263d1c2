# SPDX-License-Identifier: Apache-2.0
# hang.sh: a gnuplot that never ends is killed after half a minute, with the processes that it
# started, and is tried only twice.
. "$ISOMER_TEST_COMMON"
here=$1
need python3 python3
cd "$scratch"
mkdir bin
cat >bin/gnuplot <<'END'
#!/bin/sh
case $1 in --version) echo "gnuplot 0.0"; exit 0 ;; esac
sleep 987 &
echo $! >>"$MARK"
wait
END
chmod +x bin/gnuplot
export MARK="$scratch/mark"
python3 "$here/document.py" >a.json
PATH="$scratch/bin:$PATH" "$tool" report a.json -o a.html 2>err || fail "it gives up"
python3 "$here/check.py" a.html a.json --no-plots || fail "a.html"
grep -q 'did not end in 30 s' err || fail "nothing is said: $(cat err)"
[ "$(wc -l <mark)" = 2 ] || fail "it was started $(wc -l <mark) times"
while read -r process; do
    # A zombie has no command line.
    [ -z "$(tr -d '\0' 2>/dev/null <"/proc/$process/cmdline")" ] ||
        fail "process $process is still there"
done <mark
