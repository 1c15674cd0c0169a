"""What a site says of a visitor whom it holds off, by its two halves: what is his, and what is wrong with it."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["HELD_OFF", "HELD_OFF_TITLE"]

_PAIRS: Final = (
    (
        r"\byour (?:\w+ )?(?:request|network|browser|ip\b|connection|access|device|activity|behaviou?r|visit|vpn"
        r"|traffic)",
        r"block|den(?:y|ied)|restrict|suspicio|unusual|abnormal|automated|too (?:many|fast)|verif|check|banned"
        r"|rejected|turn off",
    ),
    (
        r"\b(?:ihre?[nrms]?|deine?[nrms]?) (?:\w+ )?(?:anfrage|netzwerk|browser|ip-?adress|verbindung|zugriff|gerät"
        r"|vpn)",
        r"blockier|gesperrt|ungewöhnlich|verdächtig|überprüf|verweiger|eingeschränkt|zu viele",
    ),
    (
        r"\bv(?:otre|os) (?:requête|réseau|navigateur|adresse ip|connexion|accès|comportement|activité|vpn)",
        r"bloqu|inhabituel|suspect|restreint|refus|vérifi|anorma|trop de|robot",
    ),
    (
        r"\b(?:tus?|sus?|seus?|suas?|tuas?) (?:red\b|rede|navegador|direcci|endereço ip|ip\b|conexi|conexão|acces"
        r"|acesso"
        r"|solicitud|solicita|peticion|requisi|activid|atividade)",
        r"bloque|inusual|incomum|sospech|suspeit|restring|restrit|deneg|negad|verific|demasiad|anómal|anorma|muchas"
        r"|muitas",
    ),
    (
        r"\b(?:tu[oa]|su[oa]) (?:rete|browser|indirizzo ip|connessione|access|richiest|attività|dispositivo)",
        r"blocc|insolit|sospett|limitat|negat|verific|anomal|tropp",
    ),
    (
        r"\b(?:je|jouw|uw) (?:netwerk|browser|ip-?adres|verbinding|toegang|verzoek|apparaat)",
        r"geblokkeerd|ongebruikelijk|ongewoon|verdacht|beperkt|geweigerd|controle|te veel",
    ),
    (
        r"\btw(?:ój|oja|oje|ojej|ojego) (?:sieci|sieć|przeglądark|adres|połączeni|dostęp|żąda|ruch|urządzeni)",
        r"zablokowan|nietypow|podejrzan|ograniczon|odmow|odrzucon|weryfik|zbyt wiele",
    ),
    (
        r"ваш\w* (?:запрос|сет|браузер|ip|айпи|соединени|подключени|доступ|трафик)|использу\w+ vpn",
        r"заблокир|необычн|подозрит|ограничен|отклон|провер|слишком|отключите",
    ),
    (
        r"ağınız|tarayıcınız|ip adresiniz|bağlantınız|erişiminiz|isteğiniz",
        r"engel|olağandışı|şüpheli|kısıtla|redded|doğrula|kontrol",
    ),
    ("アクセス|ネットワーク|ブラウザ|IPアドレス|リクエスト|通信", "制限|拒否|異常|不審|ブロック|遮断|集中"),
    (
        "访问|請求|请求|网络|網路|浏览器|瀏覽器|IP|操作",
        "异常|異常|限制|拒绝|拒絕|频繁|頻繁|验证码|驗證碼|封禁|风控|拦截|攔截",
    ),
    ("접근|접속|네트워크|브라우저|IP|요청|트래픽", "차단|거부|비정상|의심|제한|너무 많|감지"),
    ("طلبك|شبكتك|متصفحك|اتصالك|وصولك|عنوانك|دخولك", "حظر|رفض|مشبوه|غير عادي|تقييد|التحقق"),
)  # fmt: skip

HELD_OFF: Final = re.compile(
    rf"\A(?:{'|'.join(f'(?=.*(?:{his}))(?=.*(?:{wrong})).+' for his, wrong in _PAIRS)})", re.IGNORECASE | re.DOTALL
)
"""A sentence that says that something is wrong with a visitor's network, browser, address or requests."""

HELD_OFF_TITLE: Final = re.compile(
    r"\W*(?:(?:your )?(?:ip(?: address)?|access|request) (?:has been |is |was )?(?:temporarily )?(?:blocked"
    r"|restricted|denied)"
    r"|(?:vpn|proxy)(?: or (?:vpn|proxy))? detected|acc[eè]s (?:temporairement )?(?:restreint|bloqué)|accesso bloccato"
    r"|acesso bloqueado|acceso bloqueado|verification required|подождите, идет проверка)\W*",
    re.IGNORECASE,
)
"""How such a page is headed."""
