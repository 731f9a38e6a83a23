"""Mulan's files, dense and sparse, as they are found in the wild."""

import numpy as np
import pytest

from semibandit.data.formats.arff import read_arff
from semibandit.errors import FileError, InputError

HEAD = """% a comment
@RELATION 'multi label: example'

@attribute feature1 numeric
@attribute 'second one' REAL
@Attribute label1 {0, 1}
@attribute "f, three" integer
@attribute 'la\\'bel 2' {0,1}
@data
"""
DENSE = HEAD + "2.3,5.6,0,1,1\n% in between\n\n -1e3 , 0, 1 ,0, 0\n"
SPARSE = HEAD + "{0 2.3, 1 5.6,3 1,4 1}\n{ 2 1, 0 -1e3 }\n{}\n"
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
  <label name="la'bel 2"><label name="label1"></label></label>
</labels>"""


def write(folder, **files):
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem.replace('_', '-')}.{suffix}").write_text(text)
    return folder


def test_a_dense_file_and_its_xml(tmp_path):
    write(tmp_path, toy_arff=DENSE, toy_xml=XML)
    dataset = read_arff(tmp_path / "toy.arff")
    assert dataset.name == "toy"
    assert dataset.feature_names == ("feature1", "second one", "f, three")
    assert dataset.label_names == ("la'bel 2", "label1")  # as the XML orders them
    assert np.array_equal(dataset.X_train, [[2.3, 5.6, 1], [-1000, 0, 0]])
    assert np.array_equal(dataset.Y_train, [[1, 0], [0, 1]])
    assert dataset.n_test == 0
    assert dataset.source == "toy.arff"


def test_a_sparse_file_says_the_same(tmp_path):
    write(tmp_path, toy_arff=SPARSE, toy_xml=XML)
    dataset = read_arff(tmp_path / "toy.arff")
    assert dataset.sparse
    assert np.array_equal(dataset.X_train.toarray(), [[2.3, 5.6, 1], [-1000, 0, 0], [0, 0, 0]])
    assert np.array_equal(dataset.Y_train, [[1, 0], [0, 1], [0, 0]])


def test_the_official_split_is_found_by_name(tmp_path):
    write(tmp_path, toy_train_arff=DENSE, toy_test_arff=DENSE.replace("2.3", "7"), toy_xml=XML)
    dataset = read_arff(tmp_path / "toy-train.arff")
    assert (dataset.name, dataset.n_train, dataset.n_test) == ("toy", 2, 2)
    assert dataset.X_test[0, 0] == 7
    assert dataset.source == "toy-train.arff and toy-test.arff"


def test_labels_without_xml(tmp_path):
    path = write(tmp_path, toy_arff=DENSE) / "toy.arff"
    with pytest.raises(InputError, match=r"does not say which attributes are labels.*toy\.xml"):
        read_arff(path)
    assert read_arff(path, labels=["label1"]).label_names == ("label1",)
    assert read_arff(path, labels=1).label_names == ("la'bel 2",)
    with pytest.raises(InputError, match="has no attribute 'nope'"):
        read_arff(path, labels=["nope"])
    with pytest.raises(InputError, match=r"labels = 5, but toy\.arff has 5 attributes"):
        read_arff(path, labels=5)
    with pytest.raises(InputError, match=r"labels = \[\], expected at least one name"):
        read_arff(path, labels=[])
    binary = write(tmp_path, all_arff="@relation x\n@attribute a {0,1}\n@data\n1\n") / "all.arff"
    with pytest.raises(InputError, match=r"all\.arff has no attributes but labels"):
        read_arff(binary, labels=["a"])


@pytest.mark.parametrize(("count", "labels"), [("1", ("a",)), ("-2", ("b", "c"))])
def test_what_meka_says_in_the_relation(tmp_path, count, labels):
    text = f"@relation 'x: -C {count}'\n" + "".join(f"@attribute {n} {{0,1}}\n" for n in "abc")
    path = write(tmp_path, x_arff=text + "@data\n1,0,1\n") / "x.arff"
    assert read_arff(path).label_names == labels


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2.3,5.6,0,1,1", "2.3,5.6,0,1", "toy.arff, line 10: 4 values for 5 attributes"),
        ("5.6", "?", r"line 10: 'second one' is missing \('\?'\)"),
        ("5.6", "much", "line 10: 'second one' is 'much', no number"),
        ("5.6", "nan", r"X_train\[0, 1\] is nan"),
        (",1,1\n", ",1,3\n", "Y_train holds 3.0"),
        ("@data", "@date", "line 9: expected @attribute or @data"),
        ("@attribute feature1 numeric", "@attribute feature1", "line 4: expected @attribute NAME"),
        ("REAL", "string", "line 5: 'second one' is of type 'string'"),
        ("{0, 1}", "{0, 1", "line 6: 'label1' has values"),
        ("{0, 1}", "{no, yes}", "toy.arff, line 10: 'label1' is '0', declared as"),
        (DENSE, HEAD, "toy.arff has no rows after @data"),
        (DENSE, HEAD.replace("@data\n", ""), "has no @data line: it is cut off"),
        (DENSE, "@relation x\n@data\n1\n", "declares no attributes"),
        (DENSE, SPARSE.replace("{}", "{5 1}"), "line 12: place 5, but there are 5 attributes"),
        (DENSE, SPARSE.replace("{}", "{1}"), "line 12: expected 'place value', found '1'"),
        (DENSE, SPARSE.replace("{}", "{0 1"), "line 12: expected {place value"),
        (DENSE, SPARSE.replace("{}", "{0 1, 0 2}"), "line 12: column 0 is given twice"),
        (DENSE, SPARSE.replace("{0, 1}", "{1, 0}"), "left out, it would mean '1', not zero"),
    ],
)
def test_mistakes_are_shown_where_they_are(tmp_path, old, new, message):
    path = write(tmp_path, toy_arff=DENSE.replace(old, new), toy_xml=XML) / "toy.arff"
    with pytest.raises(FileError, match=message):
        read_arff(path)


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        (XML[:-20], "toy.xml is not XML"),
        ('<?xml version="1.0" encoding="no-such"?><labels/>', "toy.xml is not XML"),
        ("<labels/>", "names no labels"),
        ("<labels><label/></labels>", "names no labels"),
        (XML.replace("label1", "label9"), "no attribute 'label9'"),
        ('<!DOCTYPE x [<!ENTITY a "aa">]>' + "<labels>&a;</labels>", "declares entities: refused"),
    ],
)
def test_a_wrong_xml_is_refused(tmp_path, xml, message):
    write(tmp_path, toy_arff=DENSE, toy_xml=xml)
    with pytest.raises(FileError, match=message):
        read_arff(tmp_path / "toy.arff")


def test_a_test_part_of_other_attributes_is_refused(tmp_path):
    write(
        tmp_path, toy_train_arff=DENSE, toy_test_arff=DENSE.replace("feature1", "f1"), toy_xml=XML
    )
    with pytest.raises(FileError, match=r"toy-test\.arff has other attributes"):
        read_arff(tmp_path / "toy-train.arff")
    words = (
        DENSE.replace("{0, 1}", "{no, yes}").replace("5.6,0", "5.6,no").replace("0, 1 ", "0, yes ")
    )
    with pytest.raises(FileError, match=r"label 'label1' is {no, yes}, expected {0,1}"):
        read_arff(write(tmp_path, odd_arff=words, odd_xml=XML) / "odd.arff")
