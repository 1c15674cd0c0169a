"""Words that occur in every text, in several languages, without accents."""

from __future__ import annotations

from typing import Final

__all__ = ["FREQUENT"]

FREQUENT: Final = frozenset(
    {
        "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do",
        "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "many", "me",
        "much", "my", "no", "not", "of", "on", "or", "our", "should", "so", "than", "that", "the", "their", "them",
        "then", "there", "these", "they", "this", "those", "to", "was", "we", "were", "what", "when",
        "where", "which", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
        "al", "am", "au", "auf", "aus", "avec", "bei", "bekomme", "ce", "che", "chi", "combien", "come", "como",
        "con", "cual", "cuando", "cuanta", "cuanto", "cuantos", "da", "dans", "das", "de", "del", "dem", "den",
        "depuis", "der", "des", "desde", "di", "die", "donde", "du", "e", "ein", "eine", "el", "em", "en", "es",
        "est", "esta", "et", "foi", "fue", "fur", "gibt", "gli", "ha", "hat", "hay", "ich", "ihr", "il", "ile", "im",
        "ist", "jak", "jaka", "jaki", "jakie", "je", "jest", "kann", "kiedy", "kto", "ktory", "la", "le", "les",
        "lo", "los", "ma", "man", "mich", "mir", "mit", "na", "nach", "nao", "nicht", "nie", "non", "o", "od", "os",
        "ou", "par", "para", "pas", "per", "plus", "por", "pour", "qual", "quale", "quand", "quando", "quanti",
        "quanto", "que", "quel", "quelle", "quels", "quem", "qui", "quien", "se", "seit", "sich", "sie", "sind",
        "sono", "sont", "su", "sur", "um", "uma", "un", "una", "und", "une", "vai", "viel", "viele", "vom", "von",
        "w", "wann", "war", "waren", "welche", "welcher", "welches", "wem", "wen", "wenn", "wer", "werden", "wie",
        "wird", "wo", "wurde", "y", "z", "za", "zu", "zum", "zur",
    }
)  # fmt: skip
"""Articles, prepositions, pronouns, auxiliary verbs and words that ask."""
