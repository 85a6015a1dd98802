"""The plugin of pytest."""
import pathlib
import shutil
import xml.etree.ElementTree

import pytest

from conftest import ROOT

UNFIT = """
import pytest
from hiloco import pytest_plugin
pytest_plugin._unfit = lambda config: WHY
"""


@pytest.fixture
def project(pytester):
    for file in ("current.yaml", "test_limits.yaml", "rc.py"):
        shutil.copy(ROOT / "docs/examples/pytest" / file, pytester.path)
    return pytester


def run(project, *arguments):
    return project.runpytest_subprocess("-p", "no:cacheprovider", "-rA", *arguments)


def test_a_scenario_with_limits_is_a_test(project):
    text = (project.path / "test_limits.yaml").read_text()
    (project.path / "test_bad.yaml").write_text(text.replace("settling_ms: 3", "settling_ms: 0.5"))
    (project.path / "test_wrong.yaml").write_text(text.replace("period_us: 50", "period_us: -5"))
    (project.path / "test_other.yaml").write_text("limits: 3\n")
    (project.path / "test_none.yaml").write_text((project.path / "current.yaml").read_text())
    done = run(project, "--hiloco-junit=verdicts.xml")
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(["PASSED test_limits.yaml::current-limits"])
    done.stdout.fnmatch_lines(["the verdict is failed", "step.settling_ms: current_a: *allowed: at most 0.5 ms*"])
    done.stdout.fnmatch_lines(["*test_wrong.yaml:7:*: nodes.law.period_us is '-5'; allowed: *"])
    done.stdout.fnmatch_lines(["*figure *current.png", "*report *report.html"])
    root = xml.etree.ElementTree.parse(project.path / "verdicts.xml").getroot()
    assert root.get("failures") == "1"
    assert root[0].get("name").startswith("test_bad.yaml::current-limits")


def test_the_figures_of_a_failed_test(project):
    project.makepyfile("""
        def test_it(hiloco):
            import hiloco as package
            package.run("current.yaml")
            assert False
    """)
    done = run(project, "test_the_figures_of_a_failed_test.py")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*- hiloco -*", "<Run of current: passed, in *", "  figure *.png", "  report *.html"])
    [report] = [line.split(maxsplit=1)[1] for line in done.outlines if line.startswith("  report ")]
    assert pathlib.Path(report).is_file()


def test_a_sweep_that_fails_draws_some_of_its_runs(project):
    project.makepyfile("""
        def test_it(hiloco):
            hiloco.sweep("current.yaml", {"duration_s": [0.001 * i for i in range(1, 11)]})
            assert False
    """)
    done = run(project, "test_a_sweep_that_fails_draws_some_of_its_runs.py")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["and 2 more runs"])


def test_without_the_fixture(project):
    project.makeconftest(UNFIT.replace("WHY", "''"))
    project.makepyfile("""
        import hiloco, pytest
        @pytest.mark.realtime
        def test_it():
            hiloco.run("current.yaml", mode="realtime", set={"validity": {"gap_us": 0.001}})
        def test_its_names(hiloco):
            with pytest.raises(hiloco.ScenarioError):
                hiloco.run("current.yaml", set={"duration_s": -1})
    """)
    run(project, "test_without_the_fixture.py").assert_outcomes(skipped=1, passed=1)


def test_runs_end_with_the_test(project):
    project.makepyfile("""
        import hiloco as package
        live = []
        def test_it(hiloco):
            live.append(hiloco.start("current.yaml", set={"duration_s": 3000, "record": []}))
        def test_it_has_ended():
            assert not live[0].running
    """)
    run(project, "test_runs_end_with_the_test.py").assert_outcomes(passed=2)


REALTIME = """
    import pytest
    @pytest.mark.realtime
    def test_it(hiloco):
        run = hiloco.run("current.yaml", mode="realtime", set={"duration_s": 0.2, "validity": VALIDITY})
        assert PASSES
"""


@pytest.mark.parametrize("why, validity, passes, outcome", [
    ("'no cores'", "{}", "True", {"skipped": 1}),
    ("''", "{'gap_us': 0.001}", "True", {"skipped": 1}),
    ("''", "{'gap_us': 0.001}", "False", {"skipped": 1}),
    ("''", "{'gap_us': 0.001}", "None < 5", {"skipped": 1}),
])
def test_real_time_that_shows_nothing_never_passes(project, why, validity, passes, outcome):
    project.makeconftest(UNFIT.replace("WHY", why))
    project.makepyfile(test_real=REALTIME.replace("VALIDITY", validity).replace("PASSES", passes))
    done = run(project, "test_real.py", "--strict-markers")
    done.assert_outcomes(**outcome)
    said = "fit for real time: no cores" if "cores" in why else "inconclusive: *"
    done.stdout.fnmatch_lines([f"SKIPPED *{said}"])


def test_a_scenario_in_real_time(project):
    text = (project.path / "test_limits.yaml").read_text().replace("mode: virtual", "mode: realtime")
    (project.path / "test_limits.yaml").write_text(text + "validity: {gap_us: 0.001}\n")
    project.makeconftest(UNFIT.replace("WHY", "''"))
    done = run(project, "test_limits.yaml")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["SKIPPED *inconclusive: *"])
