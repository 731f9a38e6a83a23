"""What is in deploy/ can be loaded, and speaks of options and metrics that there are."""

import configparser
import json
import re
import shlex
from pathlib import Path

import promql_parser
import pytest
import yaml
from server import BUILD, Server
from typer.main import get_command

from semibandit.cli import app

DEPLOY = Path(__file__).parents[2] / "deploy"
OPTIONS = {one.name: one for one in get_command(app).commands["serve"].params}
OUTSIDE = ("up", "process_resident_memory_bytes")  # metrics that are not ours


@pytest.fixture(scope="module")
def metrics(tmp_path_factory):
    """The names of all metrics of a service that was used."""
    with Server(tmp_path_factory.mktemp("metrics") / "store", *BUILD) as server:
        shown = server.rank(id="one").json()["slate"]
        assert server.feedback("one", [one["label"] for one in shown[:1]]).status_code == 200
        text = server.get("/metrics").text
    return {re.match(r"[a-z_A-Z0-9:]+", line)[0] for line in text.splitlines() if line[0] != "#"}


def names_in(expression):
    """The metrics that an expression asks for; it must be one."""
    promql_parser.parse(expression)
    without = re.sub(r'"[^"]*"', '""', expression)
    return set(re.findall(r"\b(?:semibandit|process)_[a-z_]+\b", without))


def test_alerts_are_expressions_over_metrics_that_there_are(metrics):
    rules = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"][0]["rules"]
    assert len({rule["alert"] for rule in rules}) == len(rules) >= 8
    for rule in rules:
        assert names_in(rule["expr"])
        assert names_in(rule["expr"]) <= metrics
        assert promql_parser.parse_duration(rule["for"])
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"]


def test_the_dashboard_asks_for_metrics_that_there_are(metrics):
    dashboard = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    drawn = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    for panel in drawn:
        for target in panel["targets"]:
            expression = target["expr"].replace("$__rate_interval", "5m").replace("$job", "x")
            assert names_in(expression)
            assert names_in(expression) <= metrics


def test_prometheus_reads_the_alerts_and_asks_both_services():
    config = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    (job,) = config["scrape_configs"]
    for target in job["static_configs"][0]["targets"]:
        name, port = target.split(":")
        assert any(one.endswith(f":{port}") for one in compose["services"][name]["ports"])
    assert all((DEPLOY / name).is_file() for name in config["rule_files"])
    mounted = compose["services"]["prometheus"]["volumes"]
    assert all((DEPLOY / one.split(":")[0]).is_file() for one in mounted if one.startswith("./"))


def environment():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    yield from compose["x-semibandit"]["environment"]
    yield from re.findall(r"\b(SEMIBANDIT_[A-Z_]+)=", (DEPLOY / "Containerfile").read_text())


@pytest.mark.parametrize("name", sorted(set(environment())))
def test_variables_are_options_of_serve(name):
    assert name.removeprefix("SEMIBANDIT_").lower() in OPTIONS


def test_the_unit_starts_serve_with_options_that_there_are():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(DEPLOY / "semibandit.service")
    _, command, *rest = shlex.split(unit["Service"]["ExecStart"])
    assert command == "serve"
    known = {name for one in OPTIONS.values() for name in one.opts}
    assert {one for one in rest if one.startswith("--")} <= known


def test_the_configuration_file_starts_a_service(tmp_path):
    config = DEPLOY / "semibandit.toml"
    with Server(tmp_path / "store", "--config", config) as server:
        assert server.get("/livez", headers={"Host": "shop.example.org"}).status_code == 200
        shown = server.post("/v1/rank", {"context": {"hour": 7, "device": "phone"}, "slots": 2})
        assert len(shown.json()["slate"]) == 2
        assert server.state()["features"][0]["name"] == "hour"
