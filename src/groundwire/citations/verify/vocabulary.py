"""The words that the rules know: function words, units, scales, months, number words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = [
    "ATTRIBUTION",
    "DENYING",
    "FUNCTION_WORDS",
    "IRREGULAR",
    "MONTHS",
    "NO_NAMES",
    "NUMBER_WORDS",
    "OPPOSITES",
    "SCALES",
    "TELLING_WORDS",
    "UNITS",
]


def _words(text: str) -> list[str]:
    return text.split()


def _by_word(groups: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({word: name for name, text in groups.items() for word in _words(text)})


FUNCTION_WORDS: Final = frozenset(
    _words(
        "a about above after again all also although am among an and any are around as at be because been before"
        " being below between both but by can could did do does doing down during each either even ever every few for"
        " from further had has have having he her here hers herself him himself his how however i if in into is it"
        " its itself just may me might more most much must my myself of off often on once one only onto or other"
        " others our ours out over own per quite rather same shall she should since so some still such than that the"
        " their theirs them themselves then there therefore these they this those though through thus to too toward"
        " towards under until up upon us very was we were what when where whether which while who whom whose why will"
        " with within would yet you your yours"
    )
)
"""English words that say nothing of what a sentence is about."""

DENYING: Final = frozenset(
    _words(
        "not never no none nobod nothi nowhe neith nor witho canno hardl barel t fail fails faile lack lacks lacke"
        " nicht kein keine nie niema ohne pas jamai aucun sans ningu nunca jamás sin nessu senza"
    )
)
"""The first five letters of words that deny; of "isn't" it is what follows the apostrophe."""

NO_NAMES: Final = frozenset(
    _words(
        "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
        " september october november december i ok yes no not also however moreover meanwhile according finally first"
        " second third today yesterday tomorrow"
    )
)
"""Words that have a capital in English and are no names."""

ATTRIBUTION: Final = frozenset(
    _words(
        "according source sources page article says said say reported reports stated states notes noted explains author"
        " authors website site claims writes"
    )
)
"""Words that say who says something."""

IRREGULAR: Final[Mapping[str, str]] = MappingProxyType(
    {
        form: forms[0]
        for forms in map(
            _words,
            (
                "become became",
                "begin began begun",
                "break broke broken",
                "bring brought",
                "build built",
                "buy bought",
                "catch caught",
                "choose chose chosen",
                "come came",
                "draw drew drawn",
                "drive drove driven",
                "eat ate eaten",
                "fall fell fallen",
                "feel felt",
                "fight fought",
                "find found",
                "fly flew flown",
                "forget forgot forgotten",
                "freeze froze frozen",
                "get got gotten",
                "give gave given",
                "go went gone",
                "grow grew grown",
                "hear heard",
                "hide hid hidden",
                "hold held",
                "keep kept",
                "know knew known",
                "lead led",
                "leave left",
                "lend lent",
                "lose lost",
                "make made",
                "mean meant",
                "meet met",
                "pay paid",
                "ride rode ridden",
                "rise rose risen",
                "run ran",
                "say said",
                "see saw seen",
                "seek sought",
                "sell sold",
                "send sent",
                "show shown",
                "sing sang sung",
                "sink sank sunk",
                "speak spoke spoken",
                "spend spent",
                "stand stood",
                "steal stole stolen",
                "swim swam swum",
                "take took taken",
                "teach taught",
                "tell told",
                "think thought",
                "throw threw thrown",
                "wear wore worn",
                "win won",
                "write wrote written",
                "child children",
                "man men",
                "woman women",
                "person people",
                "foot feet",
                "mouse mice",
                "leaf leaves",
                "life lives",
            ),
        )
        for form in forms[1:]
    }
)
"""English forms that no ending tells, and the word that each is a form of."""

SCALES: Final[Mapping[str, float]] = MappingProxyType(
    {
        word: scale
        for scale, text in (
            (12.0, "dozen"),
            (1e2, "hundred"),
            (1e3, "thousand k tausend mil mille"),
            (1e4, "万"),
            (1e5, "lakh"),
            (1e6, "million millions mn m mio millionen millones milhões milioni"),
            (1e7, "crore"),
            (1e8, "億 亿"),
            (1e9, "billion billions bn b mrd milliarden milliards"),
            (1e12, "trillion tn"),
        )
        for word in _words(text)
    }
)
"""What a word after a number multiplies it by."""

UNITS: Final = _by_word(
    {
        "%": "% percent pct per-cent prozent",
        "km": "km kilometre kilometer kilometres kilometers",
        "m": "m metre meter metres meters",
        "cm": "cm centimetre centimeter centimetres centimeters",
        "mm": "mm millimetre millimeter millimetres millimeters",
        "mile": "mile miles mi",
        "foot": "ft foot feet",
        "inch": "inch inches",
        "yard": "yard yards yd",
        "kg": "kg kilogram kilograms kilo kilos",
        "g": "g gram grams",
        "mg": "mg milligram milligrams",
        "tonne": "tonne tonnes ton tons t",
        "pound": "lb lbs",
        "ounce": "oz ounce ounces",
        "second": "s sec secs second seconds",
        "minute": "min mins minute minutes",
        "hour": "h hr hrs hour hours",
        "day": "day days",
        "week": "week weeks",
        "month": "month months",
        "year": "year years yr yrs",
        "decade": "decade decades",
        "century": "century centuries",
        "ms": "ms millisecond milliseconds",
        "litre": "l litre liter litres liters",
        "ml": "ml millilitre milliliter millilitres milliliters",
        "gallon": "gallon gallons gal",
        "kb": "kb kilobyte kilobytes",
        "mb": "mb megabyte megabytes",
        "gb": "gb gigabyte gigabytes",
        "tb": "tb terabyte terabytes",
        "hz": "hz hertz",
        "mhz": "mhz megahertz",
        "ghz": "ghz gigahertz",
        "w": "w watt watts",
        "kw": "kw kilowatt kilowatts",
        "mw": "mw megawatt megawatts",
        "gw": "gw gigawatt gigawatts",
        "kwh": "kwh",
        "v": "v volt volts",
        "usd": "$ usd dollar dollars",
        "eur": "€ eur euro euros",
        "gbp": "£ gbp",
        "jpy": "¥ yen jpy",
        "inr": "₹ inr rupee rupees",
        "celsius": "°c celsius",
        "fahrenheit": "°f fahrenheit",
        "hectare": "ha hectare hectares",
        "acre": "acre acres",
        "kmh": "km/h kph kmh",
        "mph": "mph",
    }
)
"""What a word after a number counts, in one spelling."""

NUMBER_WORDS: Final[Mapping[str, float]] = MappingProxyType(
    {
        word: float(value)
        for first, step, text in (
            (
                0,
                1,
                "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
                " sixteen seventeen eighteen nineteen",
            ),
            (20, 10, "twenty thirty forty fifty sixty seventy eighty ninety"),
        )
        for value, word in zip(range(first, 100, step), _words(text), strict=False)
    }
)
"""English numbers in words."""

OPPOSITES: Final = (
    (
        "increase increased rise rose grow grew climb climbed gain gained expand expanded",
        "decrease decreased fall fell decline declined drop dropped shrink shrank",
    ),
    ("more", "less fewer"),
    ("before", "after"),
    ("above", "below"),
    ("win won", "lose lost"),
    ("best", "worst"),
    ("highest", "lowest"),
    ("largest biggest", "smallest"),
    ("allow allowed permit permitted", "forbid forbidden ban banned prohibit prohibited"),
    ("accept accepted approve approved", "reject rejected"),
    ("majority", "minority"),
    ("north northern", "south southern"),
    ("east eastern", "west western"),
    ("legal", "illegal"),
    ("safe", "dangerous unsafe"),
    ("true", "false"),
    ("maximum", "minimum"),
    ("oldest", "youngest newest"),
)
"""Words, and others that say the opposite."""

MONTHS: Final[Mapping[str, int]] = MappingProxyType(
    {
        name: number
        for number, text in enumerate(
            (
                "january jan januar janvier enero gennaio janeiro",
                "february feb februar février febrero febbraio fevereiro",
                "march mar märz mars marzo março",
                "april apr avril abril aprile",
                "may mai mayo maggio maio",
                "june jun juni juin junio giugno junho",
                "july jul juli juillet julio luglio julho",
                "august aug août agosto",
                "september sep sept septembre septiembre settembre setembro",
                "october oct oktober octobre octubre ottobre outubro",
                "november nov novembre noviembre novembro",
                "december dec dezember décembre diciembre dicembre dezembro",
            ),
            start=1,
        )
        for name in _words(text)
    }
)
"""The names of months in seven languages."""

TELLING_WORDS: Final = _by_word(
    {
        "en": "the and of to was were with that this from which are his her their has have it by",
        "de": "der die das und ist nicht mit von zu den dem ein eine auf für wurde werden auch sich im",
        "fr": "le les des et est dans une du que qui pour par sur avec au aux ont été cette sont",
        "es": "el los las y es en una del que por con para como fue más su se al son está",
        "it": "il gli di è che per una del della con sono nel dei alla più come anche le si ha",
        "pt": "o os as e é em uma do da que por com para não foi mais dos das ao são",
        "nl": "het een en van is dat op te zijn met voor niet aan er om door ook wordt bij naar",
    }
)
"""Little words, and the language that they tell."""
