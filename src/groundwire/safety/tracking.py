"""Parameters that tell who came from where; the page is the same without them.

Collected from the documentation of the services that add them and from what links on real pages carry.
"""

from __future__ import annotations

import re

__all__ = ["is_tracking"]

_NAMES = frozenset(
    re.findall(
        r"\w+",
        # Google, Meta, Microsoft, Yandex, X, TikTok, LinkedIn, Pinterest, Reddit
        "_ga _gl gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid ved sxsrf gs_lp gs_lcp fbclid "
        "igsh igshid msclkid yclid ysclid _openstat twclid ttclid li_fat_id epik rdt_cid ref_src ref_url "
        # mail and campaign services
        "mc_cid mc_eid mkt_tok _hsenc _hsmi __hssc __hstc __hsfp hsctatracking vero_id vero_conv oly_enc_id "
        "oly_anon_id wickedid irclickid irgwc _kx _ke ml_subscriber ml_subscriber_hash ck_subscriber_id __s s_cid "
        "cm_mmc rb_clickid "
        # shops
        "dib dib_tag ref_ _trkparms _trksid itmprp itmmeta spm",
    )
)
_STARTS = ("utm_", "mtm_", "pk_", "piwik_", "pd_rd_", "pf_rd_", "hsa_", "at_custom")


def is_tracking(name: str) -> bool:
    """Tell whether a query parameter, by its decoded name, is there for tracking only."""
    bare = name.lower()
    return bare in _NAMES or bare.startswith(_STARTS)
