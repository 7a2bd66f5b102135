"""The loader reads good files whole and refuses bad ones with one line that names file, line and key."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvbench_suite.errors import PromptError, UserError
from pvbench_suite.prompts import loader
from pvbench_suite.prompts.loader import Suite, load
from pvbench_suite.prompts.reading import MAX_LINE
from pvbench_suite.prompts.schema import Group


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one folder for all examples of a property; its files are overwritten."""
    return tmp_path_factory.mktemp("examples")


BALL = {"name": "ball", "noun": "ball", "body": "rigid"}


def write(tmp_path: Path, content: str | bytes, name: str = "my.jsonl") -> Path:
    """Return the path of a new file with that content."""
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def line(**keys: object) -> str:
    """Return one JSON line of a small group with `keys` added."""
    return json.dumps({"id": "a", "prompt": "A ball rolls."} | keys)


def test_only_id_and_prompt_are_needed(tmp_path: Path) -> None:
    """A user's own line of id and prompt loads, and everything else is empty or not stated."""
    (group,) = load(write(tmp_path, line())).groups
    assert (group.part, group.dimensions, group.objects, group.first_frame) == ("custom", (), (), None)
    assert (group.expect.light, group.expect.camera, group.expect.g_scale) == (None, None, 1.0)


def test_bom_crlf_blank_lines_and_no_final_newline_are_read(tmp_path: Path) -> None:
    """What Windows editors leave in a file does not matter."""
    raw = b"\xef\xbb\xbf" + line().encode() + b"\r\n\r\n" + line(id="b").encode()
    assert [group.id for group in load(write(tmp_path, raw))] == ["a", "b"]


def test_line_separators_inside_json_strings_do_not_split_a_line(tmp_path: Path) -> None:
    """U+0085 would split a line under str.splitlines; here it is refused as a control character of line 1."""
    with pytest.raises(PromptError, match=r":1: prompt: holds the control character U\+0085"):
        load(write(tmp_path, json.dumps({"id": "a", "prompt": "x\u0085y"}, ensure_ascii=False)))


BAD_LINES = [
    pytest.param("{", r"my\.jsonl:1: is not JSON at column 2", id="broken JSON"),
    pytest.param("[1]", r"my\.jsonl:1: holds a list, not an object", id="array"),
    pytest.param("[" * 200_000, r"my\.jsonl:1: is nested too deeply", id="deep nesting"),
    pytest.param('{"id":"a","id":"b","prompt":"x"}', r":1: key 'id' stands twice", id="duplicate key"),
    pytest.param('{"id":"a","prompt":"x","expect":{"g_scale":1,"g_scale":2}}', "'g_scale' stands twice", id="deep dup"),
    pytest.param('{"id":"a","prompt":"x","expect":{"g_scale":NaN}}', ":1: NaN is not JSON", id="NaN"),
    pytest.param('{"id":"a","prompt":"x","expect":{"g_scale":1e999}}', r"expect\.g_scale: .*finite", id="infinite"),
    pytest.param('{"id":"a","prompt":"x","expect":{"g_scale":' + "9" * 5000 + "}}", ":1: ", id="huge integer"),
    pytest.param('{"id":"a"}', ":1: prompt: is required", id="no prompt"),
    pytest.param(line(promt="x"), r":1: promt: is no known key \(did you mean prompt\?\)", id="misspelt key"),
    pytest.param(line(id=7), ":1: id: .*string", id="number as id"),
    pytest.param(line(id="../a"), r":1: id: '\.\./a': ids use", id="path as id"),
    pytest.param(line(id=".a"), ":1: id: '.a': ids use", id="hidden file as id"),
    pytest.param(line(id="a" * 81), ":1: id: .* 1 to 80 characters", id="long id"),
    pytest.param(line(prompt=" \t"), ":1: prompt: is blank", id="blank prompt"),
    pytest.param(line(prompt="x\x1b[2J"), r":1: prompt: holds the control character U\+001B", id="terminal escape"),
    pytest.param(line(dimensions=["R2"]), r":1: dimensions\.0: 'R2' is no dimension \(nearest: R2\d\)", id="dimension"),
    pytest.param(line(dimensions=["R22", "R22"]), ":1: dimensions: 'R22' is listed twice", id="dimension twice"),
    pytest.param(line(tags=["messy"]), r":1: tags\.0: Input should be 'embodied'", id="tag"),
    pytest.param(line(objects=[BALL, BALL]), ":1: objects: two are named 'ball'", id="two of one name"),
    pytest.param(line(objects=[BALL | {"mass": "2"}]), r":1: objects\.0\.mass: .*number", id="text as number"),
    pytest.param(line(objects=[BALL | {"mass": True}]), r":1: objects\.0\.mass: .*number", id="true as number"),
    pytest.param(line(objects=[BALL | {"size_m": 0}]), r":1: objects\.0\.size_m: .*greater than 0", id="size 0"),
    pytest.param(line(objects=[BALL | {"symmetry": "1-fold"}]), r"objects\.0\.symmetry: .*4-fold", id="symmetry"),
    pytest.param(
        line(expect={"free_flight": ["bal"]}, objects=[BALL]),
        r":1: expect\.free_flight: 'bal' is not in objects \(ball\)",
        id="dangling reference",
    ),
    pytest.param(line(objects=[BALL], expect={"contacts": [["ball", "ball"]]}), "stands on both sides", id="self"),
    pytest.param(line() + "\n" + line(), ":2: id: 'a' stands already in line 1", id="duplicate id"),
    pytest.param(line() + "\n" + line(id="A"), ":2: id: 'A' stands already in line 1", id="case-folded id"),
    pytest.param(line() + "\n" + line(id="a.s1"), ":2: id: 'a.s1' is the file name of seed 1 of 'a'", id="seed"),
    pytest.param(line() + "\n" + line(prompt="x" * MAX_LINE), ":2: the line has .* bytes", id="huge line"),
    pytest.param(b'\n{"id":"a","prompt":"\xff"}', r":2: byte 21 of the line is not UTF-8", id="not UTF-8"),
    pytest.param("\ufefftext".encode("utf-16"), ":1: .*UTF-8", id="UTF-16"),
    pytest.param("", "holds no group", id="empty"),
]


@pytest.mark.parametrize(("content", "message"), BAD_LINES)
def test_a_bad_file_is_one_line_with_file_line_and_key(tmp_path: Path, content: str | bytes, message: str) -> None:
    """Every fault is a PromptError of one printable line that starts with the file."""
    path = write(tmp_path, content)
    with pytest.raises(PromptError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 900


def test_a_line_of_256_kibibytes_is_the_limit() -> None:
    """A hundred times a group's usual size, and small enough to parse in no time."""
    assert MAX_LINE == 262_144


def test_several_faults_of_one_line_are_counted(tmp_path: Path) -> None:
    """The first fault is told, and how many more there are."""
    with pytest.raises(PromptError, match=r"\(and 2 more\)"):
        load(write(tmp_path, line(x=1, y=2, z=3)))


@pytest.mark.parametrize("where", ["nowhere.jsonl", "."])
def test_a_missing_file_and_a_folder_are_prompt_errors(tmp_path: Path, where: str) -> None:
    """Neither is a traceback."""
    with pytest.raises(PromptError, match=r"does not exist|is no file"):
        load(tmp_path / where)


@given(st.binary(max_size=200))
def test_any_bytes_give_groups_or_one_printable_line(folder: Path, raw: bytes) -> None:
    """No input ends in another exception."""
    for name in ("x.jsonl", "x.csv"):
        fault = ""
        try:
            load(write(folder, raw, name))
        except PromptError as error:
            fault = str(error)
        assert fault.isprintable()


@given(st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,79}", fullmatch=True))
def test_every_allowed_id_loads_and_is_a_safe_file_name(folder: Path, name: str) -> None:
    """An allowed id survives loading and stays one path component inside its folder."""
    (group,) = load(write(folder, line(id=name)))
    videos = Path("/videos")
    assert group.id == name
    assert (videos / f"{name}.mp4").resolve().parent == videos


@given(st.text(max_size=90))
def test_any_other_id_is_refused(folder: Path, name: str) -> None:
    """An id loads exactly when it is 1 to 80 safe ASCII characters without a leading dot."""
    safe = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
    good = 1 <= len(name) <= 80 and set(name) <= safe and not name.startswith(".")
    path = write(folder, line(id=name))
    if good:
        assert load(path).get(name) is not None
    else:
        with pytest.raises(PromptError):
            load(path)


def test_csv_with_ids_dimensions_and_tags(tmp_path: Path) -> None:
    """Dimensions and tags are separated by spaces or semicolons; quoted prompts may hold commas and line breaks."""
    content = 'id,prompt,dimensions,tags\r\na,"A ball, red,\nrolls.",R22; R23,clutter\r\n\r\nb,Snow falls.,,\r\n'
    suite = load(write(tmp_path, content, "my.CSV"))
    assert suite.get("a") == Group(id="a", prompt="A ball, red,\nrolls.", dimensions=("R22", "R23"), tags=("clutter",))
    assert suite.get("b") == Group(id="b", prompt="Snow falls.")
    assert suite.files == {}


def test_csv_with_files_makes_ids_of_the_stems_and_keeps_the_names(tmp_path: Path) -> None:
    """A file name with spaces and commas becomes an id; the file name itself is kept for matching."""
    suite = load(write(tmp_path, 'file,prompt\n"out/A dog, running-0.mp4",A dog runs.\n', "my.csv"))
    assert suite.files == {"A_dog_running-0": "out/A dog, running-0.mp4"}


BAD_CSV = [
    pytest.param("id,prompt,colour\na,x,y\n", ":1: colour: is no known column", id="unknown column"),
    pytest.param("id,id,prompt\na,b,x\n", ":1: id: the column stands twice", id="column twice"),
    pytest.param("id\na\n", ":1: the header needs prompt", id="no prompt column"),
    pytest.param("id,prompt\na,x,y\n", ":2: has 3 cells, the header 2; quote", id="unquoted comma"),
    pytest.param('id,prompt\na,"x', ":2: is not CSV", id="open quote"),
    pytest.param("file,prompt\n../../etc/passwd,x\n", ":2: file: '../../etc/passwd' is no path inside", id="escape"),
    pytest.param("file,prompt\n/etc/passwd,x\n", ":2: file: .* is no path inside", id="absolute"),
    pytest.param("file,prompt\nC:\\x.mp4,x\n", ":2: file: .* is no path inside", id="drive"),
    pytest.param("id,file,prompt\na,..\\x.mp4,x\n", ":2: file: .* is no path inside", id="backslashes"),
    pytest.param("id,prompt\na,x\nb,y\nA,z\n", ":4: id: 'A' stands already in line 2", id="duplicate id"),
    pytest.param("id,prompt,dimensions\na,x,R99\n", r":2: dimensions\.0: 'R99' is no dimension", id="dimension"),
    pytest.param("id,prompt\n", "holds no group", id="header only"),
]


@pytest.mark.parametrize(("content", "message"), BAD_CSV)
def test_a_bad_csv_is_one_line_with_file_line_and_key(tmp_path: Path, content: str, message: str) -> None:
    """The faults of a CSV are told like those of JSONL."""
    with pytest.raises(PromptError, match=message):
        load(write(tmp_path, content, "my.csv"))


def suite_of(*ids: str) -> Suite:
    """Return a suite of groups with these ids."""
    return Suite(tuple(Group(id=i, prompt=f"Prompt {i}.") for i in ids), source="mine")


def test_subsets_are_nested_and_have_the_stated_sizes() -> None:
    """Mini has 23 groups, one of each ten hybrids; core adds 46, one of each five singles."""
    mini, core = list(loader.subset_ids("mini")), list(loader.subset_ids("core"))
    assert len(mini) == 23
    assert len(core) == 69
    assert set(mini) < set(core)
    assert sorted((int(i[1:]) - 1) // 10 for i in mini) == list(range(23))
    assert sorted((int(i[1:]) - 1) // 5 for i in core if i[0] == "s") == list(range(46))


def test_a_subset_keeps_what_is_there_and_tells_what_is_absent() -> None:
    """With singles only, core gives the singles that it lists and names the rest as absent."""
    suite = suite_of("s001", "s002", "s006")
    assert [group.id for group in suite.subset("core")] == ["s001", "s006"]
    assert len(suite.absent("core")) == 67
    assert suite.subset("full") == suite


def test_a_subset_of_which_nothing_is_there_is_a_user_error() -> None:
    """Nothing to run is never a silent success."""
    with pytest.raises(UserError, match="mine has none of the 23 groups of subset 'mini'"):
        suite_of("s001").subset("mini")


def test_an_unknown_subset_is_a_user_error() -> None:
    """The message lists the three names."""
    with pytest.raises(UserError, match="choose mini, core, full"):
        suite_of("s001").subset("maxi")


def test_the_digest_of_a_suite_ignores_order_and_sees_every_group() -> None:
    """Reordering a file changes nothing; changing one prompt does."""
    suite = suite_of("a", "b")
    assert suite.digest() == Suite(suite.groups[::-1]).digest()
    assert suite.digest() != suite_of("a", "c").digest()
    assert len(suite.digest()) == 12


def test_get_is_exact_and_nearest_helps() -> None:
    """Only the exact id is found; the nearest ids are there for a message."""
    suite = suite_of("s001", "s002", "h001")
    assert suite.get("S001") is None
    assert suite.nearest("s0001")[0] == "s001"


def test_the_shipped_suite_loads() -> None:
    """The shipped file, complete or not, holds the schema."""
    assert isinstance(load(), Suite)


def test_a_missing_or_empty_shipped_file_is_an_empty_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any group is written the suite is empty, not an error."""
    monkeypatch.setattr(loader, "files", lambda _: tmp_path)
    assert len(load()) == 0
    write(tmp_path, "", "groups.jsonl")
    assert len(load()) == 0


def test_the_example_in_the_documentation_loads(tmp_path: Path) -> None:
    """What a user copies from docs/prompts.md works."""
    docs = (Path(__file__).resolve().parents[2] / "docs" / "prompts.md").read_text("utf-8")
    example = docs.split("```json\n")[1].split("```")[0]
    assert load(write(tmp_path, example)).get("kitchen_01") is not None
