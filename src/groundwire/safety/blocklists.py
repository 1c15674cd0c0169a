"""The ports that browsers refuse to speak HTTP to.

Source: the WHATWG Fetch standard, section 2.9 "Port blocking" (https://fetch.spec.whatwg.org/#port-blocking).

Also the host names that are rejected before any lookup.
"""

from __future__ import annotations

__all__ = ["BAD_PORTS", "SPECIAL_SUFFIXES", "is_special_name"]

BAD_PORTS = frozenset(
    {
        0,  # names no port
        1,  # tcpmux
        7,  # echo
        9,  # discard
        11,  # systat
        13,  # daytime
        15,  # netstat
        17,  # qotd
        19,  # chargen
        20,  # ftp-data
        21,  # ftp
        22,  # ssh
        23,  # telnet
        25,  # smtp
        37,  # time
        42,  # name
        43,  # nicname
        53,  # domain
        69,  # tftp
        77,  # private RJE
        79,  # finger
        87,  # link
        95,  # supdup
        101,  # hostname
        102,  # iso-tsap
        103,  # gppitnp
        104,  # acr-nema
        109,  # pop2
        110,  # pop3
        111,  # sunrpc
        113,  # auth
        115,  # sftp
        117,  # uucp-path
        119,  # nntp
        123,  # ntp
        135,  # epmap
        137,  # netbios-ns
        139,  # netbios-ssn
        143,  # imap
        161,  # snmp
        179,  # bgp
        389,  # ldap
        427,  # svrloc
        465,  # submissions
        512,  # exec
        513,  # login
        514,  # shell
        515,  # printer
        526,  # tempo
        530,  # courier
        531,  # chat
        532,  # netnews
        540,  # uucp
        548,  # afp
        554,  # rtsp
        556,  # remotefs
        563,  # nntps
        587,  # submission
        601,  # syslog-conn
        636,  # ldaps
        989,  # ftps-data
        990,  # ftps
        993,  # imaps
        995,  # pop3s
        1719,  # h323gatestat
        1720,  # h323hostcall
        1723,  # pptp
        2049,  # nfs
        3659,  # apple-sasl
        4045,  # npp
        4190,  # sieve
        5060,  # sip
        5061,  # sips
        6000,  # x11
        6566,  # sane-port
        6665,  # irc
        6666,  # irc
        6667,  # irc
        6668,  # irc
        6669,  # irc
        6679,  # osaut
        6697,  # ircs-u
        10080,  # amanda
    }
)
"""Ports of other protocols, whose servers could be made to act on the text of an HTTP request."""


SPECIAL_SUFFIXES = frozenset(
    {
        "home.arpa",  # RFC 8375, home networks
        "internal",  # ICANN board resolution 2024.07.29.06, private use
        "lan",  # not delegated; used by home routers
        "local",  # RFC 6762, multicast DNS; also Kubernetes (cluster.local)
        "localdomain",  # not delegated; used in the hosts files of many systems
        "localhost",  # RFC 6761, 6.3
        "onion",  # RFC 7686, never in the DNS
    }
)
"""Names that are reserved for one network or machine, including all subdomains."""


def is_special_name(host: str) -> bool:
    """Return whether a name can only refer to something inside a network.

    Single-label names are included: a resolver completes them with the domains of its network.

    Args:
        host: A name in lower-case ASCII without a trailing dot; not an IP address.
    """
    labels = host.split(".")
    return len(labels) == 1 or any(".".join(labels[i:]) in SPECIAL_SUFFIXES for i in range(len(labels)))
