"""Checks that sources and documents use the field's words: docs/glossary.md defines the project's own.

Each rule is a regular expression, the text that it is held against, and the word to use instead. The text is a whole line
("line"), C++ and CUDA code without comments and string literals ("code"), a document ("docs"), or the beginning of a
comment ("comment"): its first sentence, without markers.
"""
import re
import unittest

import source_tree

SOURCES = re.compile(r"\.(h|cpp|cu|cuh|def|py|sh|ts|tsx|mjs|mts|css|html|toml|cmake|in)$|"
                     r"(^|/)(CMakeLists\.txt|check|demo|run|pack|count_instructions)$")
CPP = re.compile(r"\.(h|cpp|cu|cuh|def)$")
DOCS = re.compile(r"\.md$")
# This test holds the words itself; golden files hold what the rewriter prints.
SKIPPED = re.compile(r"^test/tree/words_test\.py$|(^|/)package-lock\.json$|(^|/)golden/")

RULES = [  # (text, regular expression, word to use; optionally a regular expression for the paths that it concerns)
    # names
    ("line", r"\bFORGOTTEN\b|\bForgotten\b", "DiscardVictim"),
    ("line", r"\bNothingBack\b", "NoWriteback"),
    ("line", r"(?i)\bdisplac(e|es|ed|ing)\b|\bdisplaced?_|_displaced?\b", "evict, evicted, victim"),
    ("code", r"\bAsk\b|\basked_?\b|\basking_?\b", "request, requester"),
    ("line", r"\bOfSm\b", "SmRequest"),
    ("line", r"\bOfSite\b", "SiteCounters"),
    ("line", r"\bInMemory\b", "PendingFill"),
    ("line", r"\b[Tt]apes?\b", "AppendBuffer"),
    ("code", r"\bnear\(\)|\bnear_\b", "local partition", r"^model/"),
    ("code", r"\bwhole_\b", "l2_", r"^model/(cache|trial)/"),
    ("code", r"\bcopies_\b", "replicas_", r"^model/(cache|trial)/"),
    ("line", r"\b(?<!')most_(?!common\b|expensive\b)[a-z]", "max_"),
    ("line", r"\bleast_(?!priority\b)[a-z]", "min_"),
    ("line", r"\bshort_lines?\b", "line_id"),
    ("code", r"\bframes_\b", "page_ids", r"^model/"),
    ("line", r"\bsum_up\b", "finalize"),
    ("line", r"\bBankPasses\b|\bbank_passes\b", "BankWavefronts"),
    ("code", r"\bis_worth_telling\b", "is_worth_reporting"),
    ("line", r"\bfrom[_-]afar\b", "beyond_l1"),
    ("code", r"\b(is_)?loose(?!_round_robin)\w*|\bwaits_for_loose\b", "unmatched", r"^model/"),
    ("code", r"\badmit(s|ted)?_?\b", "dispatch", r"^model/"),
    ("code", r"\bPlace\b", "Pc, program counter", r"^model/(clock|counts)/"),
    ("code", r"\bWay\b", "BlockPath", r"^model/code/"),
    ("code", r"\bof_[a-z_]+\b", "a noun", r"^(bench|calibration|document|driver|import|judge|numeric|placement|power|report|result|sharing|significance|support)/"),
    ("line", r"\bhas_circle\b|\bin a circle\b", "has_cycle, in a cycle"),
    ("code", r"\bin_order\b", "topological_order", r"^runtime/cpu/cudart/"),
    ("code", r"\bTurns\b", "RoundRobin"),
    ("line", r"\bhand_on\b", "yield_to_next"),
    ("line", r"\btake_turns\b", "issue_round"),
    ("line", r"\bQuietError\b", "ScopedErrorSuppressor"),
    ("code", r"\bWatch\b", "StallWatchdog"),
    ("line", r"\bKernelForms?\b|\bkernel_forms?\b", "KernelVariants, kernel_variants"),
    ("line", r"\bjoin_forms\b", "merge_variants"),
    ("line", r"(?i)\btwo[_ ]forms?\b|\bTwoForms\b|\bforms of (a|each|the) kernel\b|\bkernel's forms?\b",
     "two variants of a kernel"),
    ("line", r"(?i)\b(un)?traced forms?\b|\bforms? with(out)? probes\b|\bprobed forms?\b", "variant"),
    ("line", r"\bspoilt\b|\bspoils the capture\b|\bspoils its capture\b", "invalidated, invalidates"),
    ("line", r"(?i)\bstand-ins?\b", "stub (library), fake", r"^(runtime|docs|lowering|driver|toolchain)/"),
    ("line", r"\bSHIM\b|\b[Ss]hims?\b", "compatibility headers"),
    ("line", r"\bWARPLENS_BRIDGE|\b[Bb]ridge[ds]?\b|\bBridged[A-Z]|\bbridged_", "compatibility header; respelled"),
    ("line", r"(?i)survivor", "access left, accesses left"),
    ("code", r"\b(gone|come)_?\b(?=\s*([;,=)({\[.]|->))", "removed, added"),
    ("code", r"\b(told|said)_?\b(?=\s*([;,=)({\[.]|->))", "output, log, reported"),
    ("code", r"\b[Mm]eanings?\b", "OptionKind", r"^toolchain/nvcc/"),
    ("code", r"(?<![\w.>:])(give|api)\(", "write_out, cuda_entry", r"^runtime/"),
    ("code", r"(?<![\w.>:])with\(", "with_valid_handle", r"^runtime/"),
    # rooms
    ("line", r"\bWARPLENS_ROOMS\b", "WARPLENS_COMPONENTS"),
    ("docs", r"\b[Rr]ooms\b|\b(a|the|each|its|their|one|whose|that|this) room\b|\bper room\b|\broom's\b", "component"),
    ("line", r"\broom's\b|\bsanitized rooms\b|\bper room\b|\bother rooms?\b|\b[Rr]ooms (talk|that)\b", "component"),
    # phrases
    ("line", r"(?i)\blistens?\b|\blistened\b|\blistening\b", "observes, observer"),
    ("line", r"(?i)\b(is|are|was|were|be|been|being) told\b", "is notified, is reported, is printed, is given"),
    ("line", r"(?i)\bnobody\b", "no one thing by its name: no thread, no code, no caller"),
    ("line", r"(?i)\b(somebody|whoever|anybody)\b", "the thread, caller or component by its name"),
    ("line", r"\b[Aa]t hand\b", "available, present"),
    ("line", r"(?i)\b(has|have) to be known\b", "must be known; or what needs it, as the subject"),
    ("line", r"(?i)\bso many\b", "this many, that number of, N"),
    ("line", r"(?i)\bhow manieth\b", "index"),
    ("line", r"(?i)\bwhat was not seen\b", "unseen accesses, uses or launches, by name"),
    ("line", r"(?i)\bof which it is unknown when\b", "pending"),
    ("line", r"\bmust_look_?\b", "wakeups_stale_"),
    ("line", r"\bholds_miss\b", "needs_mshr"),
    ("line", r"\bheld_up\b", "throttled_cycles"),
    ("code", r"\bDealing\b", "BlockDispatch"),
    ("line", r"(?i)\b(may|can) do something\b", "can issue, can serve", r"^model/"),
    ("line", r"(?i)\bthose that wait (are|is)\b|\bname by which those\b", "waiter, load to wake"),
    ("line", r"(?i)\bhas (been )?asked (the L2|it|them|memory) for\b", "pending requests", r"^model/"),
    ("line", r"(?i)\bthat holds? that many entries\b", "MSHRs, released", r"^model/"),
    ("line", r"(?i)\bhas made room for and\b", "pending fill", r"^model/"),
    ("line", r"(?i)\bare such that\b", "what they do, by its name", r"^model/"),
    ("line", r"(?i)\btakes? its part\b", "pays an equal share", r"^model/"),
    ("line", r"(?i)\bat the rate of the .*'s from when\b", "extrapolates from the steady-state rate"),
    ("line", r"(?i)\bor nothing at all\b", "the idle slot", r"^model/"),
    ("line", r"(?i)\btake longer which\b", "extra latency"),
    ("line", r"(?i)\bgoes with, in parentheses\b", "the parenthesised note"),
    # comments without a subject
    ("comment", r"(Of|By|With|Those|To be)(\s[^\s,:]+){1,7}$", "a sentence with a subject and a verb"),
    ("comment", r"(Is|Has|Did|Are|May|Can)\s[^:]*$|Whether\s", "'Returns whether …', or a sentence with a subject"),
    ("comment", r"(What|Where|As|From|If)\s[^,:]*\.?$", "a sentence with a main clause"),
    ("comment", r"[^.;:]*\?$", "a statement: 'Returns whether …'"),
]

ALLOWED = [  # (path, regular expression for the line, reason)
    (r"^test/end_to_end/lsp_client/client\.mjs$", r"connection\.listen\(\)", "the name that the library has"),
]

STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
MARKER = re.compile(r"^\s*(?:///<?|//[!<]?|#(?!!)|\"\"\"|/\*\*?)\s*")  # not used on lines of C++ that begin with #
TRAILING = re.compile(r"\s///<\s*(.*)$|[;{},)]\s+//\s+(.*)$")


def without_comments(text):
    """Returns C++ without comments and the contents of string literals, line by line as it was."""
    text = BLOCK_COMMENT.sub(lambda found: "\n" * found.group().count("\n"), STRING.sub('""', text))
    return [line.split("//")[0] for line in text.splitlines()]


def comment_beginnings(path, lines):
    """Returns, for each line, the first sentence of a comment that begins there; "" if none does."""
    is_cpp = bool(CPP.search(path))
    markers = [None if is_cpp and line.lstrip().startswith("#") else MARKER.match(line) for line in lines]
    beginnings = []
    for number, (line, marker) in enumerate(zip(lines, markers)):
        text = ""
        if marker and not (number > 0 and markers[number - 1]):
            end = number
            while end < len(lines) and markers[end]:
                text += " " + lines[end][markers[end].end():].strip().rstrip('"*/ ')
                end += 1
        elif not marker and is_cpp and (trailing := TRAILING.search(line)):
            text = trailing.group(1) or trailing.group(2) or ""
        beginnings.append(re.split(r"(?<=[.?!])\s", text.strip())[0])
    return beginnings


def literals(pattern):
    """Returns strings of which a lower-case text has at least one if the pattern is found in it: they save most searches."""
    plain = re.sub(r"\(\?[<!=][^)]*\)|\(\?i\)|\\.|\[[^]]*\]|\w\?", " ", pattern)
    return re.findall(r"[a-z_]{3,}", plain.lower())


def findings():
    """Returns a line "file:line: word -> word to use" for each place with a word that is not to be used."""
    rules = [(kind, re.compile(pattern), literals(pattern), word, re.compile(paths[0]) if paths else None)
             for kind, pattern, word, *paths in RULES]
    allowed = [(re.compile(path), re.compile(line)) for path, line, _ in ALLOWED]
    found = []
    for path in source_tree.files():
        is_doc = bool(DOCS.search(path))
        if SKIPPED.search(path) or not (is_doc or SOURCES.search(path)):
            continue
        text = source_tree.text(path)
        lower = text.lower()
        lines = text.splitlines()
        texts = {"line": lines, "docs": lines if is_doc else [], "code": without_comments(text) if CPP.search(path) else [],
                 "comment": [] if is_doc else comment_beginnings(path, lines)}
        for kind, pattern, needed, word, paths in rules:
            if paths and not paths.search(path) or kind != "comment" and not any(literal in lower for literal in needed):
                continue
            for number, line in enumerate(texts[kind], 1):
                match = pattern.match(line) if kind == "comment" else pattern.search(line)
                if match and not any(where.search(path) and what.search(lines[number - 1]) for where, what in allowed):
                    found.append(f"{path}:{number}: '{match.group().strip()[:60]}' -> {word}")
    return sorted(found)


class Words(unittest.TestCase):
    def test_only_the_fields_words(self):
        found = findings()
        if found:
            self.fail(f"{len(found)} places with words that the project does not use:\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main()
