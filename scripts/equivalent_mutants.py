"""Mutants that are equivalent to the original, each with the reason.

A mutant is known by its module, its function and the line that it makes, or "the line => the line that it makes" where
several make the same. `scripts/mutants.py` says which entries name no mutant, or several.
"""

from __future__ import annotations

from typing import Final

_WORK: Final = "only how much work is done, or where, changes"

EQUIVALENT: Final[tuple[tuple[str, str, str, str], ...]] = (
    *(
        ("src/groundwire/routing/cache.py", function, line, reason)
        for function, line, reason in (
            (
                "Cache._find_in_time",
                "if lease and lease[0] and self._load_ends.get(job.key, -1) <= job.look.since: "
                "# else there may be a value by now",
                "no load ends with the number of a lookup",
            ),
            ("Cache._load.work", "raise => pass", "the load has failed already"),
            (
                "Cache._find_in_time",
                "job.look.answers = await self._ask(self.store.batch(job.look.operations), (None, False))",
                _WORK,
            ),
            (
                "Cache._find_in_time",
                "if lease and lease[(-1)] and self._load_ends.get(job.key, -1) < job.look.since: "
                "# else there may be a value by now",
                "there is one",
            ),
            (
                "Cache._find_in_time",
                "if lease and lease[0] and self._load_ends.get(job.key, -2) < job.look.since: "
                "# else there may be a value by now",
                "the count of lookups begins at 0",
            ),
        )
    ),
    *(
        ("src/groundwire/routing/cache.py", function, line, _WORK)
        for function, line in (("Cache._fetch", "if self._end_use(lease, job.owner): => if False:"),)
    ),
    (
        "src/groundwire/routing/single_flight.py",
        "SingleFlight._wait",
        "if load.answer.done() or not load.task.done(): # a caller's next call must see what this one has changed",
        "without an answer, no time is left to wait",
    ),
    ("src/groundwire/routing/cache_codec.py", "pack_search", "if len(attempts) <= len(answer.attempts):", _WORK),
    *(
        (
            "src/groundwire/routing/cache.py",
            "Cache.__init__",
            f"self._name = secrets.token_hex({size})",
            "a name may have any length",
        )
        for size in (7, 9)
    ),
    *(
        ("src/groundwire/routing/politeness.py", function, line, reason)
        for function, line, reason in (
            ("Politeness.__init__", "delay: float = (-1.0),", "a site that asks for none has 0, which is then more"),
            (
                "Politeness._wait_for_pause",
                "wait = entry.fresh_until - self._clock() if entry is not None else (-1.0)",
                "neither is waited for",
            ),
            ("Politeness._wait_for_pause", "if wait >= 0:", _WORK),
            ("Politeness._wait_for_turn", "if not delay: => if False:", _WORK),
            ("Politeness._wait_for_turn", "if slot.wait >= 0:", _WORK),
            ("RobotsFiles._load", "if len(reply.body) > _AT_ONCE: => if False:", _WORK),
        )
    ),
    *(
        ("src/groundwire/citations/marker_parser.py", function, line, reason)
        for function, line, reason in (
            (
                "MarkScanner.__init__",
                'self._outer = "" # the run that opened the code in which a fence seems to begin => '
                "pass # the run that opened the code in which a fence seems to begin",
                "it is set before it is looked at",
            ),
            ("MarkScanner.feed", "if dull is not None: => if False:", _WORK),
            ("MarkScanner._note", "if len(self._line) <= _LINE_START_CHARS:", _WORK),
            ("_parse", "before = pieces[place - 2] if place >= 2 else None", "numbers stand at odd places"),
        )
    ),
    *(
        ("src/groundwire/reading/passages/terms.py", function, line, reason)
        for function, line, reason in (
            ("_stem", 'if len(stem) > 3 and stem[-1] == stem[-2] and stem[-2] not in "lsz":', "the two are the same"),
        )
    ),
    *(
        ("src/groundwire/routing/daily_quota.py", function, line, reason)
        for function, line, reason in (("take_up_to", "if paid <= granted:", _WORK),)
    ),
    *(
        ("src/groundwire/routing/health.py", function, line, reason)
        for function, line, reason in (
            (
                "",
                "_STRAY_COOLDOWN, _MOST_COOLDOWNS = 1.0, 13 "
                "# seconds, the first if the key has worked recently; doublings, to an hour",
                "either is more than an hour",
            ),
            (
                "_State.improbable_row",
                "return min(math.ceil(math.log(_IMPROBABLE) / math.log(share)), _LONGEST_ROW) if share > 0 else 2",
                "the first failure is never enough",
            ),
            (
                "_State.improbable_row",
                "return min(math.ceil(math.log(_IMPROBABLE) / math.log(share)), _LONGEST_ROW) if share > 0 else 0",
                "the first failure is never enough",
            ),
        )
    ),
    (
        "src/groundwire/reading/passages/outline.py",
        "Outline.table_head",
        'return self.text[start:body] if place >= body and is_rule(self.text[rule : body - 0].lstrip(" \\t>")) else ""',
        "a line may end with its newline",
    ),
    *(
        ("src/groundwire/routing/rate_limiter.py", function, line, reason)
        for function, line, reason in (
            ("_Learned", "limit: float = 1.0", "before a refusal none is allowed, as after a long time"),
            ("_Learned", "limit: float = (-1.0)", "before a refusal none is allowed, as after a long time"),
            (
                "RateLimiter.acquire",
                "window_seconds = self._window_ends.get(where, (-1.0)) - clock()",
                "either has passed",
            ),
            ("RateLimiter.acquire", "wait = max((-1.0), window_seconds)", "neither is waited for"),
            ("RateLimiter.acquire", "if wait >= 0:", _WORK),
            ("RateLimiter.acquire", "if wait > (-1):", _WORK),
            (
                "RateLimiter._begin_pause",
                "length = min(seconds, (_FIRST_PAUSE if is_credible else _UNKNOWN_PAUSE) * 2 ** min(times, 21), "
                "_LONGEST_PAUSE)",
                "an hour is less",
            ),
            (
                "RateLimiter._begin_pause",
                "length = min(seconds, (_FIRST_PAUSE if is_credible else _UNKNOWN_PAUSE) * 2 ** min(times, 19), "
                "_LONGEST_PAUSE)",
                "an hour is less",
            ),
            ("RateLimiter.pace", "return Rate(max(delay, rate.interval if rate else (-1.0)))", "the delay is more"),
            ("_is_short", "return (window.seconds or window.reset or 1.0) <= LONGEST_WINDOW", "either is short"),
        )
    ),
    *(
        ("src/groundwire/reading/passages/pagination.py", function, line, reason)
        for function, line, reason in (
            (
                "_position",
                'word = re.search(r"\\S{0,60}\\Z", document.text[max(0, place - 61) : place])',
                "at most 60 are taken",
            ),
            (
                "_moved",
                "if best is not None and start - place > abs(best - place): => if False:",
                _WORK,
            ),
            ("_moved", "if best is not None and start - place >= abs(best - place):", _WORK),
            ("_moved", "if best is not None and start - place > abs(best + place):", _WORK),
        )
    ),
    *(
        ("src/groundwire/reading/passages/view.py", function, line, reason)
        for function, line, reason in (
            (
                "view",
                '"original_length": max(page.original_length or (-1), len(page.content)),',
                "a length is at least 0",
            ),
        )
    ),
    *(
        ("src/groundwire/reading/passages/token_budget.py", function, line, reason)
        for function, line, reason in (
            ("TokenBound._cost", 'if before >= "\\x7f" and before.isalnum():', "DEL is not alphanumeric"),
            ("_longest_row", "best = [[(-1)] * (size + 1) for _ in range(size + 1)]", "neither is more than none"),
            ("_longest_row", "for end in range(0, size + 1):", "nothing ends there"),
            ("_longest_row", "if row >= longest and piece[before:end] not in words:", "the longest is the same"),
            (
                "_longest_row",
                "best[start][end] = longest + 1 if longest or not start else (-1)",
                "neither is more than none",
            ),
        )
    ),
    (
        "src/groundwire/reading/passages/pagination.py",
        "cut_piece",
        "full_piece = wrapped(document, start, stop) if stop - start < room.characters else None",
        "one without anything added is then taken as the last piece",
    ),
    *(
        ("src/groundwire/routing/hedging.py", function, line, reason)
        for function, line, reason in (
            (
                "_HedgedRun._wait",
                "late = 1.0",
                "it is used as it stands only where a call that is sent changes nothing",
            ),
            (
                "_HedgedRun._wait",
                "late = (-1.0)",
                "it is used as it stands only where a call that is sent changes nothing",
            ),
            ("_HedgedRun._wait", "if late >= 0:", _WORK),
            ("_HedgedRun._wait", "await self._until_one_ends(wake, until_sent=late <= 1)", _WORK),
            (
                "_HedgedRun._until_one_ends",
                "async def _until_one_ends(self, wake: float, *, until_sent: bool = False) -> None:",
                _WORK,
            ),
        )
    ),
    *(
        (
            "src/groundwire/reading/passages/terms.py",
            "",
            f"_MAX_CACHED_RUNS: Final = {number} # runs whose terms are cached",
            _WORK,
        )
        for number in (100_001, 99_999)
    ),
    *(
        (
            "src/groundwire/reading/passages/terms.py",
            "Terms.__call__",
            f"if len(terms_by_run) {sign} _MAX_CACHED_RUNS:",
            _WORK,
        )
        for sign in (">=", "<=")
    ),
    *(
        (
            "src/groundwire/reading/passages/terms.py",
            "_marks",
            f'return {{mark: None for mark in range({span}) if unicodedata.category(chr(mark))[0] == "M"}}',
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
        "return views.occurrences(ask.find, Place((-1)))",
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
        "share = self.failure_shares.get(kind, (-1.0))",
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
        "self._states[provider].probe_until = 1.0",
        "a clock that begins at 0 is past it before the first suspicion ends, two seconds after a failure",
    ),
    (
        "src/groundwire/safety/urls.py",
        "_parse_parts",
        'before, _, fragment = after_scheme[1 + len(authority) :].partition("#")',
        "the character more is the authority's last; it stands before the first slash, and is dropped with it",
    ),
    (
        "src/groundwire/safety/urls.py",
        "_parse_parts",
        'authority = re.split(r"[/?#]", after_scheme[2:], maxsplit=0)[0]',
        "only the first part is used, however many there are",
    ),
    (
        "src/groundwire/safety/urls.py",
        "_parse_parts",
        'authority = re.split(r"[/?#]", after_scheme[2:], maxsplit=2)[0]',
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
        'if self._mode == "text" and not (self._head or self._run or self._escaped or self._closed or self._depth): => '
        "if False:",
        "the short way for plain text gives what the long way gives",
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
        "keeps_all = (best < MENUS_ONLY * 253 and not _has_prose(layout)) or is_tiny(layout)",
        "scores are whole numbers, and none lies between 50.6 and 50.8",
    ),
    (
        "packages/groundwire-server/src/groundwire_server/auth/keys.py",
        "",
        "_NOBODY = hashlib.sha256(secrets.token_bytes(31)).hexdigest()",
        "a digest that no key has, whatever it is made of",
    ),
    *(
        (
            "src/groundwire/routing/daily_quota.py",
            "_count_up_to",
            f"number = min(number {change}, int(limit - total) // each)",
            "what is refused does not fit, so what fits is less than what was requested",
        )
        for change in ("+ 1", "- 0")
    ),
    *(
        ("src/groundwire/routing/daily_quota.py", "_count_up_to", line, _WORK)
        for line in ("while number > (-1):", "number = min(number - 1, int(limit - total) * each)")
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
        "_embedded_ipv4",
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
            f"keeps_all = (best {condition} and not _has_prose(layout)) or is_tiny(layout)",
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
            ("Health.give_up_probe", "self._states[provider].probe_until = (-1.0)"),
            (
                "Health.report",
                "was_ill, state.probe_until = bool(state.degraded_until or state.cooldown_until), (-1.0)",
            ),
            ("Health.report", "was_ill, state.probe_until = bool(state.degraded_until or state.cooldown_until), 1.0"),
        )
    ),
    *(
        ("src/groundwire/routing/politeness.py", function, line, "no part of a call ends after the call")
        for function, line in (
            ("Politeness.check", "robots = await self._files.of(url, deadline, share=0.5 if remote else 2.0)"),
            ("RobotsFiles.of", "async def of(self, url: WebUrl, deadline: Deadline, *, share: float = 2.0) -> Robots:"),
        )
    ),
    *(
        (
            "packages/groundwire-server/src/groundwire_server/auth/keys.py",
            function,
            line,
            "only what nobody reads changes",
        )
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
        "packages/groundwire-server/src/groundwire_server/auth/keys.py",
        "_Part",
        'frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=False',
        "only the descriptions in the schema change",
    ),
    (
        "src/groundwire/routing/daily_quota.py",
        "_count_up_to",
        "while number >= 0:",
        "adding nothing is always granted, and nothing is what is returned",
    ),
    (
        "src/groundwire/routing/hedging.py",
        "_HedgedRun._pause",
        "return self._started[-most] + 1.0 - self._loop.time() if len(self._started) >= most else (-1.0)",
        "neither is waited for",
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
        (
            "src/groundwire/routing/single_flight.py",
            function,
            line,
            "the event loop keeps a running task; this only makes sure",
        )
        for function, line in (
            ("SingleFlight._start", "self._tasks.add(load.task) => pass"),
            ("SingleFlight._finish", "self._tasks.discard(task) => pass"),
        )
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
        'until, kind, reason, status = self._failed.get(origin, ((-1.0), PageUnavailable, "", None))',
        "a clock that begins at 0 is past both",
    ),
    (
        "src/groundwire/routing/cache.py",
        "Cache._with_renewal",
        "due = loop.call_later(self._ttl / 2, lambda: beats.append(loop.create_task(renew())))",
        "the lease is renewed before it ends either way",
    ),
    (
        "src/groundwire/reading/passages/outline.py",
        "Outline.headings",
        'level = len(match["hashes"]) if match["hashes"] else 1 if match["line"][(-1)] == "=" else 2',
        "a line is one character again and again",
    ),
    *(
        ("src/groundwire/citations/link_filter.py", "LinkFilter._opens", line, "a run is one character again and again")
        for line in (
            'self._unsure = run[2][1] == "~" or "`" not in line[run.end() :][:_MAX_INFO_CHARS]',
            'self._unsure = run[2][(-1)] == "~" or "`" not in line[run.end() :][:_MAX_INFO_CHARS]',
        )
    ),
    *(
        (
            "src/groundwire/citations/link_filter.py",
            "LinkFilter._opens_inner",
            line,
            "a run is one character again and again",
        )
        for line in (
            'elif line.lstrip(" \\t").startswith(fence[1] * 3):',
            'elif line.lstrip(" \\t").startswith(fence[(-1)] * 3):',
            "self._unsure = line[len(spaces)] != fence[1] or not _closes(line, fence)",
            "self._unsure = line[len(spaces)] != fence[(-1)] or not _closes(line, fence)",
        )
    ),
    *(
        (
            "src/groundwire/citations/link_filter.py",
            "LinkFilter._at_line_start",
            line,
            "a run is one character again and again",
        )
        for line in (
            'if not line[:_MAX_HELD_CHARS].strip(" \\t\\r\\n" + self._fence[1]):',
            'if not line[:_MAX_HELD_CHARS].strip(" \\t\\r\\n" + self._fence[(-1)]):',
        )
    ),
    ("src/groundwire/citations/link_filter.py", "LinkFilter._in_line", "if start > place: => if False:", _WORK),
    *(
        ("src/groundwire/citations/link_filter.py", "LinkFilter._code", line, "what is looked for is after the run")
        for line in (
            'while (at := tail.find("`", place)) > 0:',
            'while (at := tail.find("`", place)) >= 1:',
        )
    ),
    *(
        ("src/groundwire/citations/link_filter.py", "LinkFilter._note", line, "only how much is kept of a word changes")
        for line in (
            "self._word = self._word[-4:]",
            "self._word = self._word[-3:] => pass",
        )
    ),
    (
        "src/groundwire/citations/link_filter.py",
        "LinkFilter._bracket",
        'url = address_of_link(f"[{tail}", (-1))',
        "a negative start is the beginning",
    ),
    (
        "src/groundwire/citations/link_filter.py",
        "LinkFilter._may_link",
        "signs = len(url) + len(bare)",
        "cutting off more than there is leaves the same",
    ),
    (
        "src/groundwire/citations/link_filter.py",
        "LinkFilter._address",
        "and len(tail) <= len(_SCHEME)",
        "a scheme that is complete is a URL that may go on",
    ),
    (
        "src/groundwire/reading/main_content/rules.py",
        "_torn_tables",
        'if "table" not in layout.tags: => if False:',
        _WORK,
    ),
    (
        "src/groundwire/reading/main_content/select.py",
        "kind_row",
        "total_weight = sum(weights) or 2",
        "the sums are 0, too",
    ),
    *(
        (
            "src/groundwire/reading/main_content/select.py",
            "prune",
            line,
            "only whether it is 0 matters, and the root is kept",
        )
        for line in (
            "has_content[0] = 2",
            "marks[owner] = 2",
            "for number in range(0, len(elements)):",
        )
    ),
    (
        "src/groundwire/reading/passages/bm25.py",
        "_spans",
        "if start < place: => if False:",
        "no heading is in a code block, nor the other way round",
    ),
    (
        "src/groundwire/reading/passages/bm25.py",
        "score_passages",
        "mean = sum(map(len, rows)) / len(rows) or 2.0",
        "no passage has a term then",
    ),
    (
        "src/groundwire/reading/passages/bm25.py",
        "score_passages",
        "total = sum(weights.values()) or 2.0",
        "a weight is above 0",
    ),
    *(
        ("src/groundwire/reading/passages/excerpts.py", "_after", line, "the end of a match is after the page's start")
        for line in (
            "if line >= 1:",
            "if line > 0:",
        )
    ),
    *(
        (
            "src/groundwire/reading/passages/token_budget.py",
            "TokenBound._word",
            line,
            "a word of one part gives the same",
        )
        for line in (
            "if len(parts) > 0:",
            "if len(parts) >= 1:",
        )
    ),
    (
        "src/groundwire/reading/passages/view.py",
        "_ViewMaker.piece",
        "following = cursor_at(document, cut.end) if cut.end <= end and document.text[cut.end :].strip() else None",
        "nothing follows the end",
    ),
    (
        "src/groundwire/routing/health.py",
        "Health.has_record",
        "def has_record(self, provider: str, *, just_now: float = (-1.0)) -> bool:",
        "no time has passed that is less than either",
    ),
    *(
        (
            "src/groundwire/routing/rate_limiter.py",
            "RateLimiter.__init__",
            line,
            "a name of another length is no other process's name either",
        )
        for line in (
            "self._owner = secrets.token_hex(9)",
            "self._owner = secrets.token_hex(7)",
        )
    ),
    ("src/groundwire/routing/rate_limiter.py", "RateLimiter._wait_for_pause", "return (-1.0)", "neither is waited for"),
    (
        "src/groundwire/routing/rate_limiter.py",
        "RateLimiter._wait_for_pause",
        "async with asyncio.timeout(max((-1.0), latest - now)):",
        "either has passed at once",
    ),
    *(
        (
            "src/groundwire/safety/ip_ranges.py",
            "address_text",
            line,
            "Python before 3.13 writes these addresses so by itself",
        )
        for line in (
            "if False:",
            "if isinstance(address, IPv6Address) and int(address) << 32 == _MAPPED:",
            "if isinstance(address, IPv6Address) and int(address) >> 33 == _MAPPED:",
            "if isinstance(address, IPv6Address) and int(address) >> 31 == _MAPPED:",
        )
    ),
    (
        "src/groundwire/safety/ip_ranges.py",
        "_embedded_ipv4",
        "yield IPv4Address((bits >> 64 & 0xFF) << 24 | bits >> 32 & 16777214)",
        "no metadata service differs from its neighbor only in this bit",
    ),
    *(
        ("src/groundwire/safety/urls.py", name, line, "the long way gives what the short way gives")
        for name, line in (
            ("plain_url", "if (match := _PLAIN.fullmatch(text)) is None or len(text) >= MAX_LENGTH:"),
            *(
                ("_plain_origin", f"return None if {condition} else (_SCHEMES[scheme], host, number)")
                for condition in (
                    "len(host) >= _LONGEST_PLAIN or number > 65_535",
                    "len(host) > _LONGEST_PLAIN or number >= 65_535",
                    "len(host) > _LONGEST_PLAIN or number > 65534",
                )
            ),
        )
    ),
    (
        "src/groundwire/safety/urls.py",
        "_check_characters",
        'if text.isascii() and text.isprintable() and "\\\\" not in text and " " not in text: => if False:',
        _WORK,
    ),
    ("src/groundwire/safety/urls.py", "_encode", "if False:", _WORK),
    (
        "src/groundwire/safety/robots_txt.py",
        "Robots.delay",
        "return max(delay or (-1.0), min(rate.seconds, _MOST) / min(rate.requests, _MOST))",
        "a rate is not negative",
    ),
    (
        "src/groundwire/citations/marker_parser.py",
        "MarkScanner.__init__",
        "self._parens = 0 => pass",
        "set where a destination begins",
    ),
    (
        "src/groundwire/citations/marker_parser.py",
        "MarkScanner.__init__",
        "pass # the text before them in their line",
        "set where a run begins",
    ),
    (
        "src/groundwire/citations/marker_parser.py",
        "MarkScanner.__init__",
        "self._blank = False # whether the current line has only spaces so far",
        "nothing is open at the beginning",
    ),
    *(
        (
            "src/groundwire/reading/passages/bm25.py",
            "passages_of",
            line,
            "a label precedes the part, so no table begins at the page's start",
        )
        for line in (
            "if label and headings is None and head <= 0 and end - passages[-1].start <= _MAX_LENGTH:",
            "if label and headings is None and head < 1 and end - passages[-1].start <= _MAX_LENGTH:",
        )
    ),
    (
        "src/groundwire/reading/passages/token_budget.py",
        "TextBudget.holds",
        "return load_token_bound().reach(text, (-1), self.tokens) == len(text)",
        "what does not fit at once does not fit in steps",
    ),
    (
        "src/groundwire/routing/politeness.py",
        "Politeness._slot",
        "async with asyncio.timeout(max((-1.0), deadline.remaining() - _MARGIN)):",
        "either has passed at once",
    ),
    (
        "src/groundwire/routing/health.py",
        "_State",
        "probe_until: float = 1.0",
        "a clock that begins at 0 is past it before the first suspicion ends, two seconds after a failure",
    ),
    (
        "src/groundwire/routing/rate_limiter.py",
        "_is_short",
        "return (window.seconds or window.reset or (-1.0)) <= LONGEST_WINDOW",
        "either is short",
    ),
    (
        "packages/groundwire-server/src/groundwire_server/auth/keys.py",
        "",
        "_NOBODY = hashlib.sha256(secrets.token_bytes(33)).hexdigest()",
        "a digest that no key has, whatever it is made of",
    ),
)
"""Module, function, the line as mutated or the change, and why it is equivalent."""
