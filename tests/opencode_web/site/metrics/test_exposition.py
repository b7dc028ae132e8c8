"""The text of metrics, as a Prometheus reads it."""

from __future__ import annotations

from opencode_web.site.metrics.exposition import MOST, Family, exposition


def test_samples_have_their_labels_and_text_is_escaped() -> None:
    calls = Family("calls_total", "counter", "Calls.")
    calls.add(tool="bash")
    calls.add(2, tool="bash")
    calls.add(0.5, tool='a "b"\\\n')
    gauge = Family("open", "gauge", "What is open.")
    gauge.put(3)
    assert exposition([calls, gauge]) == (
        "# HELP calls_total Calls.\n# TYPE calls_total counter\n"
        'calls_total{tool="bash"} 3\ncalls_total{tool="a \\"b\\"\\\\\\n"} 0.5\n'
        "# HELP open What is open.\n# TYPE open gauge\nopen 3\n"
    )


def test_what_is_not_counted_yet_is_not_said() -> None:
    assert list(Family("a_total", "counter", "A.").lines())[-1] == "# TYPE a_total counter"


def test_labels_do_not_grow_without_end() -> None:
    family = Family("a_total", "counter", "A.")
    for number in range(MOST + 50):
        family.add(model=str(number))
    lines = list(family.lines())
    assert len(lines) == MOST + 3
    assert 'a_total{model="other"} 50' in lines
