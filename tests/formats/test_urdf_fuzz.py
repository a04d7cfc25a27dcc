"""URDF texts damaged at random: a model that works, or an error of ours; never anything else."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkwork.errors import LinkworkError
from linkwork.formats.urdf import read_urdf_text, urdf_text
from linkwork.model import build_tree
from tests.formats.test_urdf import ARM
from tests.fuzz_budget import drawn
from tests.published import URDFS

TEXTS = [ARM] + [
    URDFS[name].read_text() for name in ("panda/panda", "ur/ur5_robot", "finger_edu/finger_edu")
]
SHORT = [text.replace("\r", "") for text in TEXTS if len(text) < 20_000]
WORDS = st.sampled_from(
    [
        *(
            "",
            "0",
            "-1",
            "nan",
            "inf",
            "-inf",
            "1e308",
            "-1e308",
            "5e-324",
            "1e999",
            "1_0",
            "0 0 0",
            "1e308 1e308 1e308",
        ),
        *(
            "base",
            "revolute",
            "planar",
            "floating",
            "fixed",
            "continuous",
            "ball",
            "mimic",
            "${x}",
            "&lt;",
            "&#0;",
            "é\u2028",
        ),
        *(
            "package://a/b",
            "file://[",
            "a\tb",
            "[",
            "]]>",
            "<",
            ">",
            '"',
            "--",
            "<!--",
            "<?x?>",
            "\x00",
            "\ud7ff",
            "世界",
        ),
    ]
)


@st.composite
def damaged(draw) -> str:
    """A description with a few random injuries: values replaced, pieces cut out, doubled, moved,
    or written over."""
    text = draw(st.sampled_from(SHORT))
    for _ in range(draw(st.integers(1, 4))):
        a = draw(st.integers(0, len(text)))
        b = min(len(text), a + draw(st.integers(0, 200)))
        match draw(
            st.sampled_from(
                ["value", "value", "value", "cut", "double", "move", "word", "character"]
            )
        ):
            case "value":
                quotes = [i for i, c in enumerate(text) if c == '"']
                if len(quotes) > 2:
                    k = 2 * (draw(st.integers(0, len(quotes) - 2)) // 2)
                    text = text[: quotes[k] + 1] + draw(WORDS) + text[quotes[k + 1] :]
            case "cut":
                text = text[:a] + text[b:]
            case "double":
                text = text[:b] + text[a:b] + text[b:]
            case "move":
                c = draw(st.integers(0, len(text)))
                text = (text[:a] + text[b:])[:c] + text[a:b] + (text[:a] + text[b:])[c:]
            case "word":
                text = text[:a] + draw(WORDS) + text[a:]
            case _:
                text = text[:a] + draw(st.characters()) + text[a + 1 :]
    return text


@settings(
    max_examples=drawn(130),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    damaged(), st.sampled_from(["follow", "independent"]), st.sampled_from(["fixed", "floating"])
)
def test_damaged_text_gives_a_model_or_an_error_of_ours(text, mimic, root):
    try:
        model = read_urdf_text(text, mimic=mimic, root=root)
    except LinkworkError:
        return
    tree = build_tree(model)
    assert len(tree.fingerprint) == 64
    assert build_tree(read_urdf_text(urdf_text(model))).nv == tree.nv


@settings(max_examples=drawn(70))
@given(st.binary(max_size=400))
def test_any_bytes_give_an_error_of_ours(content):
    try:
        read_urdf_text(content)
    except LinkworkError:
        return
    raise AssertionError("random bytes are no robot")
