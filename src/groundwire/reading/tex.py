r"""Whether a text that stands behind a formula is TeX: nobody sees it, so prose must not pass for it.

The commands are those of LaTeX and amsmath that KaTeX knows (https://katex.org/docs/supported), as far as their names
are long; all others count as words.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_formula"]

_STRUCTURE: Final = re.compile(
    r"\\(?:begin|end|color|textcolor|colorbox|label|ref|eqref|tag|class|cssId|style|operatorname|math[a-z]+|hspace|vspace)\*?"
    r"\s*\{[^{}\s]{0,24}\}"
)
"""Commands with an argument that is no text, or one word of it."""
_COMMAND: Final = re.compile(r"\\([a-zA-Z]+)\*?")
_LONG: Final = 5  # letters; shorter names of commands say little
_PROSE: Final = re.compile(r"[^\W\d_]{4,}")
_MAX_PROSE: Final = 2  # words in a formula that are no commands and that it does not show
_MAX_UNSHOWN: Final = 3  # the same of a formula of which nothing else is known
_COMMANDS: Final = """
    acute aleph align aligned alpha amalg angle approx approxeq arccos arccot arcsin arctan argmax argmin array
    arrow asymp backepsilon backslash barwedge bcancel because begin between bigcap bigcirc bigcup biggl Biggl biggm
    biggr Biggr bigodot bigoplus bigotimes bigsqcup bigstar bigtriangledown bigtriangleup biguplus bigvee bigwedge
    binom blacklozenge blacksquare bmatrix boldsymbol bowtie boxed brace brack braket breve bullet bumpeq cancel
    cases cdotp cdots cfrac check choose circeq circlearrowleft circlearrowright circledast circledcirc colon color
    complement coprod copyright cosec curlyeqprec curlyvee curlywedge curvearrowleft curvearrowright dagger daleth
    dashleftarrow dashrightarrow dashv dbinom ddagger ddddot dddot ddots degree delta Delta dfrac diamond
    diamondsuit digamma displaylimits displaylines displaystyle divideontimes doteq doteqdot dotplus dotsb dotsc
    dotsi dotsm dotso doublebarwedge doublecap doublecup downarrow Downarrow downharpoonleft downharpoonright
    emptyset enclose epsilon eqalign equiv ethbar exists fallingdotseq footnotesize forall frown gamma Gamma genfrac
    geqslant gggtr gimel gnapprox gneqq gnsim grave gtrapprox gtrdot gtreqless gtreqqless gtrless gtrsim gvertneqq
    heartsuit hfill hline hookleftarrow hookrightarrow hphantom hskip hslash hspace idotsint iiiint iiint imath
    impliedby implies infty injlim intercal intop jmath kappa label lambda Lambda langle large Large LARGE lbrace
    lbrack lceil ldotp ldots Leftarrow leftarrow leftarrowtail leftharpoondown leftharpoonup leftleftarrows
    Leftrightarrow leftrightarrow leftrightarrows leftrightharpoons leftrightsquigarrow leftthreetimes leqslant
    lessapprox lessdot lesseqgtr lesseqqgtr lessgtr lesssim lfloor lgroup liminf limits limsup llcorner Lleftarrow
    lmoustache lnapprox lneqq lnsim longleftarrow Longleftarrow longleftrightarrow Longleftrightarrow longmapsto
    longrightarrow Longrightarrow looparrowleft looparrowright lower lozenge lrcorner lvert lVert maltese mapsto
    mathbb mathbf mathbin mathcal mathchoice mathclose mathfrak mathinner mathit mathnormal mathop mathopen mathord
    mathpunct mathrel mathring mathrm mathscr mathsf mathstrut mathtt matrix measuredangle medspace middle models
    mskip mspace multimap nabla natural ncong nearrow negmedspace negthickspace negthinspace newcommand nexists
    ngeqq ngeqslant nleftarrow nleftrightarrow nleqq nleqslant nless nolimits nonumber normalsize notag nparallel
    nprec npreceq nrightarrow nshortmid nsubseteq nsucc nsucceq nsupseteq ntriangleleft ntrianglelefteq
    ntriangleright nvdash nwarrow oiiint oiint omega Omega omicron ominus operatorname oplus oslash otimes overbrace
    overbracket overleftarrow overleftrightarrow overline overparen overrightarrow overset parallel partial phantom
    pitchfork plusmn pmatrix precapprox preccurlyeq preceq precsim prime projlim propto qquad raise rangle rbrace
    rbrack rceil require rfloor rgroup right Rightarrow rightarrow rightarrowtail rightharpoondown rightharpoonup
    rightleftarrows rightleftharpoons rightrightarrows rightsquigarrow rightthreetimes risingdotseq rmoustache
    Rrightarrow rvert rVert scriptscriptstyle scriptsize scriptstyle searrow setminus sharp shortmid shortparallel
    sigma Sigma simeq smallfrown smallint smallmatrix smallsetminus smallsmile smash smile space spadesuit
    sphericalangle sqcap sqcup sqsubset sqsubseteq sqsupset sqsupseteq square stackrel strut style subset subseteq
    subseteqq subsetneq subsetneqq substack succapprox succcurlyeq succeq succsim supset supseteq supseteqq
    supsetneq supsetneqq swarrow tbinom textbf textcolor textit textnormal textrm textsc textsf textstyle texttt
    textup tfrac therefore theta Theta thickapprox thicksim thickspace thinspace tilde times toggle triangle
    triangledown triangleleft trianglelefteq triangleq triangleright trianglerighteq twoheadleftarrow
    twoheadrightarrow ulcorner underbrace underbracket underleftarrow underleftrightarrow underline underparen
    underrightarrow underset unicode uparrow Uparrow updownarrow Updownarrow upharpoonleft upharpoonright uplus
    upsilon Upsilon upuparrows urcorner varDelta varepsilon varGamma varinjlim varkappa varLambda varliminf
    varlimsup varnothing varOmega varPhi varphi varPi varpi varprojlim varpropto varPsi varrho varSigma varsigma
    varsubsetneq varsupsetneq varTheta vartheta vartriangle vartriangleleft vartriangleright varUpsilon varXi
    vcentcolon vcenter vdash vdots veebar vmatrix vphantom Vvdash wedge widecheck widehat widetilde wreath xcancel
    xhookrightarrow xleftarrow xleftrightarrow xlongequal xmapsto xrightarrow
"""
_KNOWN: Final = frozenset(_COMMANDS.split())


def is_formula(tex: str, shown: str = "") -> bool:
    """Tell whether a text is TeX rather than prose.

    Args:
        tex: The text, which nobody sees.
        shown: What the page shows of the formula, if that is known: its words may stand in the text.
    """
    bare = _STRUCTURE.sub(_word_of, tex)
    squeezed = "".join(shown.split())
    commands = {name for name in _COMMAND.findall(bare) if len(name) >= _LONG and name not in _KNOWN}
    words = [word for word in _PROSE.findall(_COMMAND.sub(" ", bare)) if word not in squeezed]
    return len(words) + len(commands) <= (_MAX_PROSE if squeezed else _MAX_UNSHOWN)


def _word_of(match: re.Match[str]) -> str:
    """Return of a structural command nothing, and of a name that is set in letters the name."""
    return match[0].partition("{")[2] if match[0].startswith((r"\operatorname", r"\math")) else " "
