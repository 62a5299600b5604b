"""Regret against the optimum of each evaluation is called dynamic, in figures, tables and reports."""

import common
import synthetic
from matplotlib.text import Text
from regatta_analysis import load
from regatta_analysis.figures import figures, panels
from regatta_analysis.report import charts, study_page, tables
from regatta_analysis.stats import regret

LAWS = {'law=["burr(2, 20)"]': False, 'law=["jump(burr(2, 20), 4, burr(3, 20))"]': True, "context=before,law=[]": True,
        'law=["normal(0, 1)","walk(normal(0, 1), 0.1, 1, 1)"]': True, "setting=announced": True,
        'setting=uncontrollable,linear=yes,context=after': False}


class Dynamic(common.Case):
    def results(self, *laws):
        synthetic.write(self.scratch / "s.h5", [
            {**synthetic.problem(f"P{k}", ["EI", "Random"], seeds=3, queries=5), "options": law}
            for k, law in enumerate(laws)])
        return load(self.scratch / "s.h5")

    @staticmethod
    def texts(figure):
        return " ".join(" ".join(text.get_text().split()) for text in figure.findobj(Text))

    def test_what_is_dynamic(self):
        results = self.results(*LAWS)
        self.assertEqual([regret.is_dynamic(results, f"P{k}") for k in range(len(LAWS))], list(LAWS.values()))
        self.assertTrue(regret.dynamic_note(results).startswith(" Regret on P1, P2, P3, P4 is dynamic: "))

    def test_words(self):
        still, moving = list(LAWS)[:2]
        mixed = self.results(still, moving)
        note = regret.dynamic_note(mixed)
        self.assertTrue(note.startswith(" Regret on P1 is dynamic: "))
        for problems, label, words in ((["P0", "P1"], "Cumulative regret $R_t$", "Regret on P1 is dynamic"),
                                       (["P1"], "Cumulative dynamic regret $R_t$", "Regret is dynamic"),
                                       (["P0"], "Cumulative regret $R_t$", "")):
            figure = figures.regret_grid(mixed, problems, "cumulative")
            self.assertEqual(figure.axes[0].get_ylabel().split(" (")[0], label)
            self.assertIn(words, self.texts(figure))
            self.assertEqual("dynamic" in self.texts(figure), bool(words))
        (_, figure), = panels.curve_figures(mixed, "problem", "instantaneous")
        self.assertIn("Regret on P1 is dynamic", self.texts(figure))
        self.assertIn(note, charts.regret_chart(mixed, ["cumulative"])["note"])
        self.assertEqual(charts.regret_chart(mixed, ["cumulative"])["measures"][0]["name"], "Cumulative regret")
        text = tables.write_final_regret(mixed, ["cumulative"], figures.Band(), self.scratch)
        self.assertIn("### Cumulative regret", text)
        self.assertIn(note, text)
        alone = self.results(moving)
        self.assertEqual(charts.regret_chart(alone, ["simple"])["measures"][0]["name"], "Simple dynamic regret")
        self.assertIn("### Cumulative dynamic regret", tables.write_final_regret(alone, ["cumulative"], figures.Band(),
                                                                                 self.scratch))
        self.assertEqual(study_page._tables(alone, ["simple"])["final"][0].title, "Simple dynamic regret at the last query")
        self.assertEqual(regret.metric_on(alone, ["P0"], "best"), regret.METRICS["best"])
        self.assertEqual(regret.dynamic_note(self.results(still)), "")
