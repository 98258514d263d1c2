# SPDX-License-Identifier: Apache-2.0
# Paths in shell scripts that a space would cut in two: one of these variables outside of quotes, and not in an
# assignment, a redirection or after `case`, where nothing is cut. Prints each, and fails.
BEGIN { paths = "^(tool|source_dir|build_dir|library|scratch|prefix|moved|here|home|programs|fakes|rebuilt|completions)$" }
FNR == 1 { quoted = single = depth = 0; ends = "" }
# A document: nothing in it is cut.
ends != "" {
    line = $0
    sub(/^\t+/, "", line)
    if (line == ends) {
        ends = ""
    }
    next
}
{
    word = before = ""
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        if (single) {
            single = c != "'"
        } else if (c == "\\") {
            i++
            word = word "x"
        } else if (c == "'" && !quoted) {
            single = 1
        } else if (c == "\"") {
            quoted = !quoted
            word = word c
        } else if (substr($0, i, 2) == "$(") {
            was[++depth] = quoted
            word_of[depth] = word
            quoted = 0
            i++
            word = before = ""
        } else if (c == ")" && !quoted && depth && !open[depth]) {
            quoted = was[depth]
            word = word_of[depth--] "x"
        } else if (c == "#" && !quoted && word == "") {
            break
        } else if (c ~ /[ \t;|&()]/ && !quoted) {
            if (depth && c == "(") {
                open[depth]++
            } else if (depth && c == ")") {
                open[depth]--
            }
            before = word != "" ? word : before
            word = ""
        } else {
            if (c == "$" && !quoted && match(substr($0, i + 1), /^[{]?[a-z_]+/)) {
                name = substr($0, i + 1, RLENGTH)
                sub(/^[{]/, "", name)
                if (name ~ paths && word !~ /^[A-Za-z_]+=/ && word !~ /[<>]|[{][a-z_0-9]+[#%]+"$/ && before != "case") {
                    print FILENAME ":" FNR ": $" name " is not in quotes"
                    failed = 1
                }
            }
            word = word c
        }
    }
    if (match($0, /<<-?['"]?[A-Za-z0-9_]+/)) {
        ends = substr($0, RSTART, RLENGTH)
        sub(/^<<-?['"]?/, "", ends)
    }
}
END { exit failed }
