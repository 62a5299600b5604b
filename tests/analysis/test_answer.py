"""The answer in sentences: what it says of made-up studies, that it claims no more than the comparisons show, and that
the page, summary.md and the terminal begin with it."""
import re
from unittest import mock

import common
import numpy as np
import synthetic
from common import run
from regatta_analysis import load
from regatta_analysis.load import program
from regatta_analysis.report import answer, matrix, study_page
from regatta_analysis.stats import aggregate, evidence, inference
from test_study_page import swept_study

LEVELS = {"A": 0.02, "B": 0.1, "C": 0.5}


class Answer(common.Case):
    pictures = "undrawn"

    def study(self, *problems, **more):
        path = self.scratch / "s.h5"
        return synthetic.loaded(path, list(problems), **more)

    def says(self, *problems, metric=None, **more):
        return answer.sentences(self.study(*problems, **more), metric)

    def test_nothing_where_nothing_can_be_said(self):
        two = ["EI", "Random"]
        for part in (synthetic.problem("P", two, seeds=1),
                     synthetic.problem("P", two, seeds=3, failed=range(6)),
                     synthetic.problem("P", two, seeds=3, failed=range(3)),
                     synthetic.problem("P", two, seeds=4, failed=(0, 1, 2, 5, 6, 7))):  # one pair
            self.assertEqual(self.says(part), [])

    def test_two_pairs_say_nothing_about_what_decides(self):
        for seeds, said in ((2, False), (3, True)):
            lines = self.says(synthetic.made_up("P", {"A": 0.02, "B": 0.5}, seeds=seeds))
            self.assertFalse(any("near a decision" in line for line in lines), lines)
            self.assertEqual(any("more seeds" in line for line in lines), said, lines)

    def test_a_method_alone(self):
        said = self.says(synthetic.made_up("P", {"A": 0.02}, seeds=7), synthetic.made_up("Q", {"A": 0.5}, seeds=5))
        self.assertRegex(said[0], r"^On P the median simple regret of A is \S+ \[\S+, \S+\], from 7 trials\.$")
        self.assertRegex(said[1], r"^On Q the median simple regret of A is \S+, from 5 trials\.$")
        self.assertEqual(said[2:], ["No other method ran, so nothing is compared."])

    def test_an_incomplete_study_says_so_first(self):
        (self.scratch / "s.h5.d").mkdir()
        part = synthetic.made_up("P", LEVELS, seeds=12)
        synthetic.write(self.scratch / "s.h5.d" / "0-a.h5", [part], complete=0, rows={"P": [0, 1, 12, 13]})
        said = answer.sentences(load(self.scratch / "s.h5.d"))
        self.assertIn("4 of", said[0])
        self.assertIn("open against B", said[1])
        synthetic.write(self.scratch / "s.h5.d" / "0-a.h5", [part], complete=0, rows={"P": [0, 1]})
        said = answer.sentences(load(self.scratch / "s.h5.d"))
        self.assertEqual(len(said), 1)
        self.assertIn("2 of", said[0])

    def test_two_methods(self):
        said, = self.says(synthetic.made_up("P", {"A": 0.02, "B": 0.1}, seeds=12))
        for words in ("On P A ends lowest: median simple regret ", " of B; shown against B. ",
                      "the simple regret of A is typically 0.199 [0.190, 0.212] times that of B, and "
                      "P(better) is 1.00 [0.61, 1.00], from 12 pairs."):
            self.assertIn(words, said)

    def test_what_limits_and_what_decides(self):
        part = synthetic.made_up("P", {"A": 0.02, "B": 0.1}, seeds=5)
        part["columns"] = {"cpu": np.ones(10)}
        said = self.says(part)
        self.assertIn("open against B", said[0])
        self.assertEqual(said[1], f"Limits: fewer than {answer.least()} pairs on P can show nothing.")
        self.assertRegex(said[2], r"^The open comparison is A against B on P: about 3 more seeds \(6 s of one core\) decide it "
                         "if wins keep their share:")
        self.assertRegex(said[2].command, r"^\./run\.sh study \S*s\.h5 --seeds 8$")
        part = synthetic.made_up("P", {"A": 0.02, "B": 0.1}, seeds=12)
        part["status"][0], part["n_rows"][13] = 2, part["n_rows"][13] - 1
        part["arrays"]["simple_regret"][14] *= 1000.0
        limits = self.says(part)[1]
        for words in ("1 of 24 trials failed", "1 of 24 trials is stuck and ends far above the others of the same method",
                      "budgets are unequal on P"):
            self.assertIn(words, limits)
        shared = synthetic.problem("P", ["EI", "Random"], instances=4, seeds=6)
        self.assertIn("on P a pair is an instance, with all its seeds (4 instances)", " ".join(self.says(shared)))

    def test_the_number_that_decides_is_one_of_the_study(self):
        """A seed at which one of two methods failed leaves no pair, so that more seeds than pairs are needed. A seed with
        an instance of its own is a seed. A longer command keeps what it had."""
        part = synthetic.made_up("P", {"A": 0.02, "B": 0.1}, seeds=10)
        for k in range(5):
            part["status"][k], part["n_rows"][k] = 2, part["n_rows"][k] - 1
        said = self.says(part)[-1]
        self.assertIn("about 6 more seeds", said)
        self.assertIn(" --seeds 16", said.command)
        own = synthetic.made_up("P", {"A": 0.02, "B": 0.1}, seeds=5)
        own["cells"] = [(a, seed, seed) for a, _, seed in own["cells"]]
        self.assertIn(" --seeds 8", self.says(own)[-1].command)
        shared = synthetic.made_up("P", {"A": 0.02, "B": 0.1}, seeds=5)
        shared["cells"] = [(a, seed, 0) for a, _, seed in shared["cells"]]
        self.assertIn(" --instances 8", self.says(shared)[-1].command)
        results = self.study(synthetic.made_up("P", {"A": 0.02, "B": 0.1}, seeds=5))
        for before, after in (("./run.sh study 'a b.yaml' c.h5", "./run.sh study 'a b.yaml' c.h5 --seeds 8"),
                              ("./run.sh study a.yaml --seeds 5 --budget 1", "./run.sh study a.yaml --budget 1 --seeds 8")):
            self.assertEqual(answer.sentences(results, command=before)[-1].command, after)
            self.assertEqual(answer.as_text(results, None, before)[-2].count(after), 1)
            self.assertIn(f" `{after}`", answer.as_markdown(results, None, before)[-2])
        self.assertRegex(answer.sentences(results, command="make all")[-1].command, r"^\./run\.sh study \S*s\.h5 --seeds 8$")

    def test_few_pairs_among_many_comparisons_only_suggest(self):
        n = answer.least(6)
        for seeds, limited in ((n - 1, True), (n + 1, False)):
            said = self.says(synthetic.made_up("P", {"A": 1e-4, "B": 1e-2, "C": 1.0, "D": 90.0}, seeds=seeds, noise=0.01))
            limit = f"fewer than {n} pairs can only suggest, because there are 6 comparisons"
            self.assertEqual([limit in " ".join(said), "shown against" in said[0]], [limited, not limited], seeds)
        self.assertLess(answer.least(), n)

    def test_the_bound_on_pairs(self):
        """With fewer pairs no wins show anything, with as many they do."""
        n = answer.least()
        for count, verdict in ((n - 1, evidence.OPEN), (n, evidence.BETTER)):
            a = np.arange(1.0, count + 1.0)
            for growth in (a, a[::-1], a**2):
                found = evidence.compare(a, a * np.exp(growth)).verdict
                self.assertTrue(found == verdict or count == n, (count, growth))
        self.assertEqual(evidence.compare(a, a * np.exp(a)).verdict, evidence.BETTER)

    def test_many_problems_are_grouped(self):
        for count in (12, 60):
            levels = {"A": 0.02, "B": 0.1, "C": 0.5, "D": 0.4, "E": 0.45}
            said = self.says(*(synthetic.made_up(f"P{k}", levels, seeds=10, queries=6) for k in range(count // 5)))
            self.assertIn(f"Over {count // 5} problems together A ends lowest", said[0])
            self.assertLessEqual(len(said), 10)
            self.assertLess(max(map(len, said)), 500)
        random = np.random.default_rng(3)
        parts = [synthetic.made_up(f"P{k}", {m: random.uniform(0.1, 0.2) for m in "ABCDE"}, seeds=8, noise=0.5)
                 for k in range(12)]
        self.assertLessEqual(len(self.says(*parts)), 10)

    def test_equal_medians_have_no_leader(self):
        part = synthetic.made_up("P", {"A": 0.02, "B": 0.1, "C": 0.5}, seeds=12)
        for k, (method, _, _) in enumerate(part["cells"]):
            if method in "AB":
                part["arrays"]["simple_regret"][k, -1] = 0.0
        self.assertIn("A and B end lowest alike", self.says(part)[0])

    @staticmethod
    def without_optimum(label):
        part = synthetic.made_up(label, {"A": 0.02, "B": 0.1}, seeds=12)
        part["optimum"] = np.nan
        for name in ("instantaneous", "simple", "cumulative"):
            part["arrays"][f"{name}_regret"][:] = np.nan
        level = {"A": 5.0, "B": 3.0}
        for k, (method, _, seed) in enumerate(part["cells"]):
            part["arrays"]["objective"][k] = part["arrays"]["f"][k] = level[method] + 0.01 * seed + np.arange(part["rows"]) / 9
        return part

    def test_no_optimum(self):
        said = self.says(self.without_optimum("P"))
        self.assertIn("On P A ends highest: median best value", said[0])
        self.assertIn("the best value of A is typically 2.00 [2.00, 2.00] above that of B", said[0])

    def test_an_optimum_that_some_problems_lack(self):
        """They are named, too, and the sentence on all problems says of how many it speaks."""
        known = [synthetic.made_up(name, {"A": 0.1, "B": 0.02}, seeds=12) for name in "PQ"]
        said = " ".join(self.says(*known, self.without_optimum("R")))
        self.assertIn("Over 2 of 3 problems together B ends lowest", said)
        self.assertIn("On P and Q B ends lowest", said)
        self.assertIn("On R A ends highest: median best value", said)

    def test_infinite_values_name_no_leader(self):
        part = synthetic.made_up("P", {"A": 0.02, "B": 0.1}, seeds=12)
        part["arrays"]["simple_regret"][:] = np.inf
        self.assertEqual(self.says(part), [])

    def test_a_sweep(self):
        swept_study(self.scratch / "w.h5", seeds=8)
        said = answer.sentences(load(self.scratch / "w.h5"))
        self.assertIn("On Box EI ends best at noise = ", said[0])
        self.assertLessEqual(len(said), 10)

    def test_a_method_has_one_name(self):
        """Sentences and tables of pages and of summary.md call a method by the name that legends have."""
        labels = {"ts": 0.02, "ei": 0.1, "gp_ucb": 0.4}
        for write in (lambda path: synthetic.write(path, [synthetic.made_up(p, labels, seeds=12) for p in "PQ"]),
                      lambda path: swept_study(path, seeds=8, methods=("ts", "ei", "gp_ucb"))):
            write(self.scratch / "n.h5")
            with mock.patch.object(program, "titles", lambda: {"ts": "TS", "ei": "EI", "gp_ucb": "GP-UCB"}):
                code, out, _ = run(self.scratch / "n.h5", "--out", self.scratch / "n")
                page = study_page.write([self.scratch / "n.h5"], self.scratch / "n.html").read_text()
            shown = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>|<[^>]+>", " ", page)
            self.assertEqual(code, 0)
            for text in (out, (self.scratch / "n" / "summary.md").read_text(), shown):
                self.assertRegex(text, r"\bTS\b")
                lines = [line for line in text.splitlines() if re.search(r"\b(ts|ei|gp_ucb)\b", line)]
                self.assertEqual([line for line in lines if "@1{" not in line], [])  # identities have the study file's names

    def test_no_finding_beyond_the_comparisons(self):
        """Every grade and number is that of the tables, turned where the leader is the second of a pair."""
        random = np.random.default_rng(5)
        for seeds in (6, 10, 20):
            parts = [synthetic.made_up(f"P{k}", dict(zip("ABCD", random.uniform(0.05, 0.2, 4))), seeds=seeds, noise=0.4)
                     for k in range(3)]
            results = self.study(*parts)
            self.check(results)

    def check(self, results):
        frame = inference.comparisons(results, "simple").set_index(["problem", "a", "b"])
        for f in answer.findings(results, "simple"):
            for r in f.rivals:
                table = inference.final_values(results, f.problem, "simple")
                again = evidence.compare(table[f.leader], table[r.name])
                p = frame.p_holm.get((f.problem, f.leader, r.name), frame.p_holm.get((f.problem, r.name, f.leader)))
                self.assertEqual(r.grade == answer.SHOWN, again.verdict == evidence.BETTER and p <= 0.05)
                self.assertEqual(r.grade == answer.SUGGESTED, again.verdict == evidence.BETTER and p > 0.05)
                self.assertEqual(r.grade == answer.AGAINST, again.verdict == evidence.WORSE)
                np.testing.assert_allclose((r.effect, r.low, r.high, r.better, r.better_low, r.better_high),
                                           (again.typical, again.low, again.high, again.better, again.better_low,
                                            again.better_high), rtol=1e-3, atol=1e-3)

    def test_a_swapped_sign_is_seen(self):
        """If comparisons were of b with a, the sentences would not say that the leader is better."""
        part = synthetic.made_up("P", {"A": 0.02, "B": 0.1}, seeds=12)
        results, compare = self.study(part), evidence.compare
        with mock.patch.object(evidence, "compare", lambda a, b, *rest, **more: compare(b, a, *rest, **more)):
            said = answer.sentences(results)
        self.assertIn("paired trials show it worse than B", said[0])
        self.assertNotIn("shown", said[0])

    def test_a_matrix_has_both_sides(self):
        """One method of a pair wins what the other loses; marks say it without colours; best methods come first."""
        results = self.study(synthetic.made_up("P", {"B": LEVELS["B"], "A": LEVELS["A"], "C": LEVELS["C"]}, seeds=12))
        table, = matrix.matrices(inference.comparisons(results, "simple"), answer.findings(results, "simple"), {"P": "P"})
        self.assertEqual((table.title, table.names, table.few), ("P", ["A", "B", "C"], True))
        shown = [[cell and (cell.share, cell.interval, cell.mark, cell.kind) for cell in row] for row in table.rows]
        won, lost = ("1", "[.61, 1]", "▲", "w4"), (".00", "[.00, .39]", "▼", "l4")
        self.assertEqual(shown, [[None, won, won], [lost, None, won], [lost, lost, None]])

    def test_marks_of_a_matrix_are_the_words_of_the_answer(self):
        results = self.study(synthetic.made_up("P", {f"M{k}": 0.1 * 1.25**k for k in range(7)}, seeds=15, noise=0.5))
        frame = inference.comparisons(results, "simple")
        table, = matrix.matrices(frame, answer.findings(results, "simple"), {"P": "P"})
        found = set()
        for row in frame.itertuples():
            for name, other, verdicts in ((row.a, row.b, ("better", "worse")), (row.b, row.a, ("worse", "better"))):
                cell = table.rows[table.names.index(name)][table.names.index(other)]
                strong = row.p_holm <= 0.05
                mark = {verdicts[0]: "▲" if strong else "△", verdicts[1]: "▼" if strong else "▽", "open": "·"}
                self.assertEqual(cell.mark, mark.get(row.verdict, "="))
                found.add(cell.mark)
        self.assertGreaterEqual(found, set("▲△▼▽·"))

    def test_captions_are_short_and_folded_once(self):
        self.study(synthetic.made_up("P", LEVELS, seeds=8), synthetic.made_up("Q", LEVELS, seeds=8))
        text = study_page.write([self.scratch / "s.h5"]).read_text()
        self.assertEqual(text.count('<h2 id="how">How to read this</h2>'), 1)
        self.assertEqual(text.count("above a gap of at least a factor of 10, with at"), 1)
        for caption in re.findall(r'<p class="note">(.*?)</p>', text, re.DOTALL):
            self.assertLessEqual(len(caption), 160, caption)

    def test_together(self):
        """Over all problems, shown only by Holm's correction over the methods."""
        results = self.study(*(synthetic.made_up(f"P{k}", LEVELS, seeds=10) for k in range(3)))
        _, against = aggregate.made(results, "simple")
        self.assertTrue((against["p_holm"] >= against["p"]).all())
        self.assertEqual(set(against["n"]), {10})
        self.assertIn("shown against B and C", answer.sentences(results)[0])
        with mock.patch.object(aggregate, "made", lambda *_: (aggregate.methods(aggregate.scores(results, "simple")),
                                                              against.assign(p_holm=0.06))):
            self.assertIn("suggested against B and C", answer.sentences(results)[0])

    def test_page_summary_and_terminal_begin_with_it(self):
        synthetic.write(self.scratch / "s.h5", [synthetic.made_up("P <b>", {"A": 0.02, "B|": 0.1}, seeds=12)])
        said = answer.sentences(load(self.scratch / "s.h5"))
        code, out, _ = run(self.scratch / "s.h5", "--out", self.scratch / "out", "--formats", "png")
        self.assertEqual((code, out.splitlines()[:len(said)]), (0, said))
        lines = (self.scratch / "out" / "summary.md").read_text().splitlines()
        self.assertTrue(lines[2].startswith("On P &lt;b&gt; A ends lowest"))
        self.assertIn("shown against B\\|", lines[2])
        text = study_page.write([self.scratch / "s.h5"]).read_text()
        self.assertLess(text.index("On P &lt;b&gt; A ends lowest"), text.index('aria-label="Contents"'))
