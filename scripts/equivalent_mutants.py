"""Mutants that are equivalent to the original, each with the reason.

A mutant is known by its module, its function and the line that it makes, or "the line => the line that it makes" where
several make the same. `scripts/mutants.py` says which entries name no mutant, or several.
"""

from __future__ import annotations

from typing import Final

__all__ = ["EQUIVALENT"]

_WORK: Final = "only how much work is done, or where, changes"

EQUIVALENT: Final[tuple[tuple[str, str, str, str], ...]] = (
    *(
        (
            "src/groundwire/reading/passages/terms.py",
            "",
            f"_MANY: Final = {number} # runs whose terms are cached",
            _WORK,
        )
        for number in (100_001, 99_999)
    ),
    *(
        ("src/groundwire/reading/passages/terms.py", "Terms.__call__", f"if len(known) {sign} _MANY:", _WORK)
        for sign in (">=", "<=")
    ),
    *(
        (
            "src/groundwire/reading/passages/terms.py",
            "_marks",
            f'marks = (mark for mark in map(chr, range({span})) if unicodedata.category(mark)[0] == "M")',
            "no mark is there",
        )
        for span in ("767, 0x20000", "0x300, 131073", "0x300, 131071")
    ),
    (
        "src/groundwire/reading/passages/bm25.py",
        "_spans",
        "if first <= last:",
        "a block is not empty; of one of white space, the last is before the first",
    ),
    ("src/groundwire/reading/passages/bm25.py", "", "_HEADING: Final = -3", "no table starts there, either"),
    *(
        (
            "src/groundwire/reading/passages/outline.py",
            "Outline.heading_path",
            line,
            "no heading is above the first level",
        )
        for line in ("level = 8", "if level == 0:", "if level == 1: => if False:")
    ),
    (
        "src/groundwire/reading/passages/outline.py",
        "Outline.sections",
        "deepest = 7",
        "no heading has the seventh level, so the first step leaves nothing out",
    ),
    (
        "src/groundwire/reading/passages/view.py",
        "view",
        "return shower.found(ask.find, Place((-1)))",
        "no match starts before the page",
    ),
    *(
        (
            "src/groundwire/routing/politeness.py",
            "",
            f"_LARGE = {number} # characters of rules that are matched without a thread",
            _WORK,
        )
        for number in (20001, 19999)
    ),
    (
        "src/groundwire/routing/health.py",
        "_State.improbable_row",
        "share = min(self.usual.get(kind, (-1.0)), 0.99)",
        "what is not above 0 gives 1, either way",
    ),
    (
        "src/groundwire/reading/passages/token_budget.py",
        "TokenBound._cost",
        'if end < len(text) and text[end] >= "\\x7f" and unicodedata.category(text[end])[0] in "LMN":',
        "the control character is no letter, mark or number",
    ),
    (
        "src/groundwire/safety/guard.py",
        "_look_up",
        "pass",
        "canonical_host lets no name through that the standard library's codec refuses",
    ),
    (
        "src/groundwire/routing/health.py",
        "Health.give_up_probe",
        "self._state(provider).probe_until = 1.0",
        "a clock that begins at 0 is past it before the first suspicion ends, two seconds after a failure",
    ),
    (
        "src/groundwire/citations/verify/quantities.py",
        "_unit_at",
        'words = [fold(after["word"]), *(fold(word) for word in text[after.end() : after.end() + 40].split()[:2])]',
        "only the first of them is looked at",
    ),
    (
        "src/groundwire/server/auth/rate_limits.py",
        "Slots.__init__",
        "self._process = secrets.token_hex(7)",
        "a name that is a little shorter is no other process's name either",
    ),
    (
        "src/groundwire/server/auth/rate_limits.py",
        "Slots.__init__",
        "self._process = secrets.token_hex(9)",
        "a name that is a little longer is no other process's name either",
    ),
    (
        "src/groundwire/safety/urls.py",
        "_read",
        'before, _, fragment = rest[1 + len(authority) :].partition("#")',
        "the character more is the authority's last; it stands before the first slash, and is dropped with it",
    ),
    (
        "src/groundwire/safety/urls.py",
        "_read",
        'authority = re.split(r"[/?#]", rest[2:], maxsplit=0)[0]',
        "only the first part is used, however many there are",
    ),
    (
        "src/groundwire/safety/urls.py",
        "_read",
        'authority = re.split(r"[/?#]", rest[2:], maxsplit=2)[0]',
        "only the first part is used, however many there are",
    ),
    (
        "src/groundwire/safety/urls.py",
        "join_url",
        'if ":" in re.split(r"[/?#]", location, maxsplit=0)[0]:',
        "only the first part is used, however many there are",
    ),
    (
        "src/groundwire/safety/urls.py",
        "join_url",
        'if ":" in re.split(r"[/?#]", location, maxsplit=2)[0]:',
        "only the first part is used, however many there are",
    ),
    (
        "src/groundwire/routing/politeness.py",
        "",
        "_AT_ONCE = 50001 # bytes that are parsed without a thread",
        "only where the work is done changes",
    ),
    (
        "src/groundwire/routing/politeness.py",
        "",
        "_AT_ONCE = 49999 # bytes that are parsed without a thread",
        "only where the work is done changes",
    ),
    (
        "src/groundwire/citations/marker_parser.py",
        "MarkScanner.feed",
        'if self._mode == "text" and not (self._held or self._run or self._escaped or self._closed or self._depth): => '
        "if False:",
        "the short way for plain text gives what the long way gives",
    ),
    (
        "src/groundwire/routing/budget.py",
        "SessionBudget._part",
        "wanted = min(wanted + 1, int(limit - count.total) // each)",
        "what is refused does not fit, so what fits is less than what was wanted",
    ),
    (
        "src/groundwire/routing/budget.py",
        "SessionBudget._part",
        "wanted = min(wanted - 0, int(limit - count.total) // each)",
        "what is refused does not fit, so what fits is less than what was wanted",
    ),
    (
        "src/groundwire/citations/marker_parser.py",
        "MarkScanner._end_run",
        'case "text" | "code" if fences and (run[(-1)] == "`" or self._mode == "text"):',
        "a run is one character again and again",
    ),
    (
        "src/groundwire/reading/main_content/select.py",
        "kind_row",
        "total = sum(map(mul, column, weights)) if column.count(0) <= count else 0",
        "a column of zeros has the sum 0; the condition only spares the work",
    ),
    (
        "src/groundwire/reading/main_content/select.py",
        "choose",
        "if is_tiny(layout) or best < MENUS_ONLY * 253 or (best < min(verdict.cut, _EVEN * 254) and not groups):",
        "scores are whole numbers, and none lies between 50.6 and 50.8",
    ),
    (
        "src/groundwire/server/auth/keys.py",
        "",
        "_NOBODY = hashlib.sha256(secrets.token_bytes(31)).hexdigest()",
        "a digest that no key has, whatever it is made of",
    ),
    (
        "src/groundwire/server/auth/rate_limits.py",
        "Slots._take",
        "pass # gateways should not all try the same slots first",
        "the order of tries changes only how many there are",
    ),
    *(
        (
            "src/groundwire/routing/daily_quota.py",
            "DailyQuota._most",
            f"wanted = min(wanted {change}, int(limit - count.total) // each)",
            "what is refused does not fit, so what fits is less than what was wanted",
        )
        for change in ("+ 1", "- 0")
    ),
    *(
        (
            "src/groundwire/safety/urls.py",
            "_check_characters",
            f"if ({condition}) and unicodedata.category(char) in _UNREADABLE:",
            "the character more is no invisible one",
        )
        for condition in ('char <= "!" or char > "~"', 'char < "!" or char >= "~"')
    ),
    (
        "src/groundwire/safety/urls.py",
        "_plain",
        'if len(host) >= _LONGEST_PLAIN or number > 65_535 or "/." in path or "/%2" in path:',
        "the long way gives what the short way gives",
    ),
    *(
        (
            "src/groundwire/safety/urls.py",
            "",
            f"_LONGEST_PLAIN = {number} # characters of a host in which no label and no name can be too long",
            "the long way gives what the short way gives, and a label of 64 characters makes a host of 67",
        )
        for number in (62, 64)
    ),
    (
        "src/groundwire/safety/ip_ranges.py",
        "_carried",
        "yield IPv4Address((bits >> 64 & 0xFFFF) << 16 | bits >> 40 & 65534)",
        "no metadata service differs from its neighbor only in this bit",
    ),
    (
        "src/groundwire/routing/politeness.py",
        "RobotsFiles._decode",
        "return _File(Robots.unpack(data) if len(data) <= _AT_ONCE else self._unpack(data))",
        "only whether it is kept parsed changes",
    ),
    (
        "src/groundwire/routing/politeness.py",
        "RobotsFiles._decode",
        "return _File(Robots.unpack(data) if len(data) >= _AT_ONCE else self._unpack(data))",
        "only whether it is kept parsed changes",
    ),
    *(
        (
            "src/groundwire/routing/politeness.py",
            "",
            f"_UNPACKED = {number} # files of ordinary size kept parsed",
            "only how many are kept parsed changes",
        )
        for number in (63, 65)
    ),
    *(
        ("src/groundwire/routing/politeness.py", "Politeness.check", line, "only where the work is done changes")
        for line in (
            "large = sum(map(len, robots.lines)) >= _LARGE",
            "large = sum(map(len, robots.lines)) <= _LARGE",
        )
    ),
    *(
        ("src/groundwire/routing/politeness.py", "RobotsFiles._load", line, "only where the work is done changes")
        for line in ("if len(reply.body) >= _AT_ONCE:", "if len(reply.body) <= _AT_ONCE:")
    ),
    *(
        (
            "src/groundwire/reading/main_content/select.py",
            "choose",
            f"if is_tiny(layout) or best {condition} or (best < min(verdict.cut, _EVEN * 254) and not groups):",
            "scores are whole numbers, and none lies between 50.8 and 51",
        )
        for condition in ("<= MENUS_ONLY * 254", "< MENUS_ONLY * 255")
    ),
    (
        "src/groundwire/routing/health.py",
        "_State",
        "probe_until: float = (-1.0)",
        "a clock that begins at 0 is past both",
    ),
    *(
        ("src/groundwire/routing/health.py", function, line, "a clock that begins at 0 is past both")
        for function, line in (
            ("Health.give_up_probe", "self._state(provider).probe_until = (-1.0)"),
            (
                "Health.report",
                "was_ill, state.probe_until = bool(state.degraded_until or state.cooldown_until), (-1.0)",
            ),
            ("Health.report", "was_ill, state.probe_until = bool(state.degraded_until or state.cooldown_until), 1.0"),
        )
    ),
    *(
        ("src/groundwire/routing/health.py", function, line, "doubled so often, it is beyond the maximum either way")
        for function, line in (
            ("Health.merge", "state.times = min(max(times, state.times), 9)"),
            ("Health.merge", "state.times = min(max(times, state.times), 7)"),
        )
    ),
    (
        "src/groundwire/routing/calls.py",
        "LoadMonitor._measure",
        "self._lags.append(now - due if used - used_before >= _OWN * (now - since) else (-1.0))",
        "neither is late",
    ),
    *(
        (
            "src/groundwire/routing/calls.py",
            "cpu_wanted",
            f"return (int(ran) + int(waited)) / {number}.0",
            "a billionth more or less is within the clock's own error",
        )
        for number in (999_999_999, 1_000_000_001)
    ),
    *(
        ("src/groundwire/routing/politeness.py", function, line, "no part of a call ends after the call")
        for function, line in (
            ("Politeness.check", "robots = await self._files.of(url, deadline, share=0.5 if remote else 2.0)"),
            ("RobotsFiles.of", "async def of(self, url: WebUrl, deadline: Deadline, *, share: float = 2.0) -> Robots:"),
        )
    ),
    *(
        ("src/groundwire/server/auth/keys.py", function, line, "only what nobody reads changes")
        for function, line in (
            ("_Content", 'model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", hide_input_in_errors=False)'),
            ("KeyFile._read", "data = file.read(_LARGEST + 2)"),
            ("KeyFile._read", "first = error.errors(include_url=True, include_input=False)[0]"),
            ("KeyFile._read", "first = error.errors(include_url=False, include_input=True)[0]"),
            ("KeyFile._changing", r'write(self.path, json.dumps(content, indent=3) + "\n")'),
            ("KeyFile._changing", r'write(self.path, json.dumps(content, indent=1) + "\n")'),
        )
    ),
    (
        "src/groundwire/server/auth/keys.py",
        "_Part",
        'frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=False',
        "only the descriptions in the schema change",
    ),
    (
        "src/groundwire/safety/urls.py",
        "_plain",
        'if len(host) > _LONGEST_PLAIN or number >= 65_535 or "/." in path or "/%2" in path:',
        "the long way gives what the short way gives",
    ),
    (
        "src/groundwire/routing/budget.py",
        "SessionBudget._part",
        "while wanted >= 0:",
        "adding nothing is always granted, and nothing is what is returned",
    ),
    (
        "src/groundwire/routing/hedging.py",
        "_HedgedRun._pause",
        "return self._started[-most] + 1.0 - self._loop.time() if len(self._started) >= most else (-1.0)",
        "neither is waited for",
    ),
    *(
        ("src/groundwire/citations/verify/quantities.py", function, line, reason)
        for function, line, reason in (
            ("_unit_at", "for length in range(tongue.longest, (-1), -1):", "no unit is spelled without a character"),
            (
                "_in_kanji",
                'unit, _ = ("%", (-1)) if group == "percent" else _unit_at(text, end, tongue, scaled=False)',
                "only the unit is used",
            ),
            (
                "_in_kanji",
                'unit, _ = ("%", 1) if group == "percent" else _unit_at(text, end, tongue, scaled=False)',
                "only the unit is used",
            ),
        )
    ),
    *(
        ("src/groundwire/citations/verify/segmentation.py", function, line, reason)
        for function, line, reason in (
            ("quotes_of", "group = found.lastindex or 1", "one of the groups always matches"),
            ("quotes_of", "group = found.lastindex or (-1)", "one of the groups always matches"),
        )
    ),
    *(
        ("src/groundwire/citations/verify/entities.py", function, line, reason)
        for function, line, reason in (
            ("names_of", "previous_end, first_of_run = 0, False", "it is set where a name begins"),
            ("names_of", "previous_end, first_of_run = 1, True", "what precedes the first word is not looked at"),
            ("names_of", "previous_end, first_of_run = (-1), True", "what precedes the first word is not looked at"),
            ("dates_of", "if readings and (readings[(-1)][2] or 1) <= 31:", "two readings are in range already"),
            ("dates_of", "if readings and (readings[0][2] or 0) <= 31:", "both are in range"),
            ("dates_of", "if readings and (readings[0][2] or 2) <= 31:", "both are in range"),
        )
    ),
    *(
        ("src/groundwire/citations/verify/argument_roles.py", function, line, "no two words have one counterpart")
        for function, line in (
            ("inverted", "firsts[two] <= firsts[one] and _alike(aligned, blocks[one], blocks[two])"),
            ("_changed_places", "inverted = there[1] <= there[0]"),
            ("_exchange_restores", "if any(b < a for a, b in itertools.pairwise(inner)):"),
            (
                "_exchange_restores",
                "falls = sum(b < a for a, b in itertools.pairwise(order[max(0, one - 1) : two + 2]))",
            ),
        )
    ),
    (
        "src/groundwire/citations/verify/argument_roles.py",
        "_pairing",
        "return None if straight == crossed else straight <= crossed",
        "they are not equal there",
    ),
    (
        "src/groundwire/citations/verify/differences.py",
        "_copied",
        "turns = any(after <= before for before, after in itertools.pairwise(places))",
        "no two words have one counterpart",
    ),
    *(
        ("src/groundwire/citations/marker_parser.py", function, line, "a run is one character again and again")
        for function, line in (
            ("MarkScanner._step", "if self._run and character != self._run[(-1)]:"),
            ("MarkScanner._step", 'case "info" | "fence" if self._mode == "fence" or self._opened[(-1)] == "`":'),
            ("MarkScanner._step", 'case "info" | "fence" if self._mode == "fence" or self._opened[1] == "`":'),
            ("MarkScanner._step", "self._begin_run(character, self._opened[(-1)])"),
            ("MarkScanner._step", "self._begin_run(character, self._opened[1])"),
            ("MarkScanner._end_run", 'case "text" | "destination" | "url" if run[(-1)] == "`":'),
            ("MarkScanner._end_run", 'case "text" | "code" if fences and (run[1] == "`" or self._mode == "text"):'),
        )
    ),
    *(
        ("src/groundwire/citations/marker_parser.py", "MarkScanner.__init__", line, "set where a destination begins")
        for line in ("self._parens = 1", "self._parens = (-1)")
    ),
    (
        "src/groundwire/citations/marker_parser.py",
        "MarkScanner.__init__",
        'self._opened = "" # the run that opened the code => pass # the run that opened the code',
        "set where code begins",
    ),
    *(
        ("src/groundwire/routing/calls.py", function, line, "the event loop keeps a running task; this only makes sure")
        for function, line in (
            ("SingleFlight._start", "self._tasks.add(load.task) => pass"),
            ("SingleFlight._ended", "self._tasks.discard(task) => pass"),
        )
    ),
    (
        "src/groundwire/routing/rate_limiter.py",
        "_Learned.send",
        "if len(self.sent) >= 2 / _COUNTED:",
        "only how often the list is trimmed changes",
    ),
    (
        "src/groundwire/citations/verify/differences.py",
        "_in_place",
        "return [] => return None",
        "the caller only asks whether there are any",
    ),
    (
        "src/groundwire/citations/verify/entities.py",
        "same_quantity",
        "abs(power - round(power)) <= 1e-9 or factor in {12.0, 7.0, 24.0, 60.0} "
        "or 1 / factor in {12.0, 7.0, 24.0, 60.0}",
        "no two units differ by exactly that",
    ),
    (
        "src/groundwire/citations/verify/quantities.py",
        "_value",
        'if tongue.code == "de" and len(piece) >= 6:',
        "no number of six letters is several words in one",
    ),
    *(
        ("src/groundwire/reading/passages/bm25.py", "_divided", line, "the long way gives what the short way gives")
        for line in ("if end - start <= _LONG: => if False:", "if end - start < _LONG:")
    ),
    *(
        ("src/groundwire/reading/passages/excerpts.py", "_after", line, "the end of a match is after the page's start")
        for line in (
            "return at if at > 0 else whole_character(text, high)",
            "return at if at >= 1 else whole_character(text, high)",
        )
    ),
    *(
        ("src/groundwire/reading/passages/token_budget.py", "_longest_row", line, "no token begins at the end")
        for line in (
            "best = [[0] * (size + 1) for _ in range(size + 0)]",
            "best = [[0] * (size + 1) for _ in range(size + 2)]",
            "best = [[0] * (size + 2) for _ in range(size + 1)]",
        )
    ),
    (
        "src/groundwire/routing/politeness.py",
        "RobotsFiles.of",
        'until, reason, status = self._failed.get(origin, ((-1.0), "", None))',
        "a clock that begins at 0 is past both",
    ),
    (
        "src/groundwire/routing/cache.py",
        "Cache._renewed",
        "due = loop.call_later(self._ttl / 2, lambda: beats.append(loop.create_task(renew())))",
        "the lease is renewed before it ends either way",
    ),
    (
        "src/groundwire/citations/verify/argument_roles.py",
        "_changed_places",
        'if "word" in kinds or not aligned.claim[right[(-1)]].name or aligned.tongue.knows_form(page[first].keys[0]):',
        "the words of a block are all names, or none is",
    ),
    (
        "src/groundwire/reading/passages/excerpts.py",
        "_one",
        "several = sorted((form for form in forms if len(form) >= 1), key=len, reverse=True)",
        "the single ones are in the pattern already",
    ),
    (
        "src/groundwire/reading/passages/outline.py",
        "Outline.headings",
        'level = len(match["hashes"]) if match["hashes"] else 1 if match["line"][(-1)] == "=" else 2',
        "a line is one character again and again",
    ),
    (
        "src/groundwire/reading/passages/pagination.py",
        "_cut",
        "if len(cut) >= len(before) and cut[len(before) :].strip():",
        "nothing is left to strip where they are equal",
    ),
)
"""Module, function, the line as mutated or the change, and why it is equivalent."""
