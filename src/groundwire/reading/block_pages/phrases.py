"""Phrases of block pages, in the most common languages of the web: data only, `classify` decides.

All are in lower case, and for text in lower case: a search that ignores case takes four times as long. A phrase is a
block page's own text: it asks, orders or rejects. A text about such things ("a CAPTCHA is a test
that ...") is not a match; `sentences` distinguishes the two.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = [
     "ACCEPT", "AGE", "BOT_CHECK", "BROWSER", "CHECKS", "CONSENT", "COOKIES", "JAVASCRIPT", "LOGIN", "MEMBERS",
    "PACE", "PAYWALL", "PAYWALL_WORDS", "QUEUE", "REFUSED", "REGION",
]  # fmt: skip


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases))


def _line(*phrases: str) -> re.Pattern[str]:
    """Return a pattern for a title, a heading or a line without other text."""
    return re.compile(rf"\A\W*+(?:{'|'.join(phrases)})\W*+")


BOT_CHECK: Final = _any(
    r"(?:verify|verifying|confirm|prove|make sure|ensure|check\w{0,6}|know) (?:that |if |whether )?(?:you(?:'|’)?re"
    r"|you are|your?) (?:an? |the )?(?:real )?(?:human|person|not an? (?:ro)?bot)",
    r"\bi(?:'|’)?m not a robot|are you (?:a )?(?:human|robot)\b|robot or human|prove your humanity",
    r"checking your browser|checking that you are a person|pardon our interruption",
    r"unusual (?:traffic|activity) from",
    r"verifying your browser|your (?:connection|request|browser) (?:needs to be|is being) (?:verified|checked)",
    r"(?:complete|solve|pass) (?:the|this|a) (?:captcha|security check|challenge|puzzle)|press (?:&|and) hold",
    r"(?:made us think|think|believe)s? (?:that )?you (?:are|might be|may be) a (?:ro)?bot",
    r"undeclared automated tool",
    r"(?:sorry, )?you(?: have|(?:'|’)ve) been blocked|access to this page has been (?:denied|blocked)",
    r"(?:block|detect)\w{0,6} (?:an? )?(?:automated|suspicious|unusual) (?:access|activity|behaviou?r|requests?"
    r"|traffic)",
    r"blocked by network security|(?:enter|type) the characters you see",
    r"kein (?:ro)?bot (?:bist|sind)|kein roboter|dass sie ein mensch sind|browser wird überprüft",
    r"zeichen (?:unten |im bild )",
    r"ungewöhnliche[nr]? (?:datenverkehr|aktivität)",
    r"(?:pas|vous êtes bien) un robot|vous êtes (?:bien )?(?:un )?(?:être )?humain"
    r"|vérification de (?:votre navigateur"
    r"|sécurité)|saisissez les caractères",
    r"no (?:soy|eres|es) un robot|(?:eres|es) (?:un ser )?(?:humano|una persona)\b.{0,80}(?:caracteres|captcha"
    r"|imagen)",
    r"(?:que|si) (?:eres|es) (?:un ser )?humano|comprobando (?:su|tu) navegador|escrib[ae] los caracteres",
    r"non sei un robot|sei (?:un essere )?umano|che tu sia (?:una persona|un umano)|inserisci i caratteri",
    r"não (?:é|sou) um robô|você é humano|digite os caracteres|geen robot bent|een mens bent|ben je een mens",
    r"nie jesteś robotem|że jesteś człowiekiem",
    r"вы не робот|я не робот|проверка (?:вашего )?браузера|подтвердите, что (?:запросы|вы)|что вы (?:не робот"
    r"|человек)",
    r"введите символы с картинки|nejste robot|robot olmad|inte är en robot",
    r"ロボットではありません|ロボットではない|人間であることを確認|画像の文字を入力",
    r"确认您是真人|不是机器人|不是機器人|请完成.{0,6}验证|完成(?:下方)?验证后|滑块完成验证|(?:网络)?环境(?:存在)?异常"
    r"|点击(?:下方)?(?:验证)?按钮(?:进行|完成)验证",
    r"로봇이 아닙니다|사람인지 확인|자동 접속이 의심|자동등록방지|정상적인 이용자인지",
    r"لست روبوت|أنك إنسان|אינך רובוט|không phải (?:là )?(?:người máy|robot)|bukan robot",
)
"""Requests of bot checks."""

CHECKS: Final = _any(
    r"robot|\bbots?\b|human|captcha|verif|vérif|verifi|secur|sicher|überprüf|bestätig|confirm|proceed|attim|moment",
    r"controler|zeker weten|\bmens\b|potwierdź|weryfik|doğrula|güvenlik|umano|robô|humano",
    "провер|подтверд|робот|验证|驗證|安全|確認|認証|인증|확인|보안|تحقق|روبوت|אימות|xác minh",
)
"""Topics of a page with little but a CAPTCHA."""

CONSENT: Final = _any(
    r"before you continue to (?:google|youtube)|bevor (?:sie|du) (?:zu google|zu youtube)",
    r"avant d(?:'|’)accéder à google",
    r"(?:we|wir|nous|noi|nosotros|wij|my) (?:and|und|et|e|y|en|i) (?:our|unsere|nos|i nostri|nuestros|onze|nasi)"
    r"(?: up to)?(?: \d+)? (?:partner\w*|partenaires|socios)",
    r"nos (?:\d+ )?partenaires et nous|noi e i nostri (?:\d+ )?partner|nosotros y nuestros (?:\d+ )?socios",
    r"(?:we|websites?|sites?) (?:use|uses|value)s? (?:cookies|your privacy)",
    r"wir verwenden cookies|nous utilisons des cookies|(?:utilizamos|usamos) cookies|utilizziamo (?:i )?cookie",
    r"wij gebruiken cookies|używamy plików cookie|мы используем (?:файлы )?cookie",
    r"(?:usamos|utilizamos) (?:os )?cookies",
    r"stimmen sie .{0,40}cookies|cookies accepteren|weiter mit werbung|mit werbung weiter|mit werbung (?:und|weiter)",
    r"(?:ohne|mit) (?:werbe)?tracking",
    r"(?:cenimy|szanujemy) (?:twoją|państwa) prywatność|votre vie privée nous|tu privacidad (?:es|nos)|tu privacy",
)
"""Phrases of a consent page."""

COOKIES: Final = _any(
    r"cookie|privacy|privat|datenschutz|vie privée|privac|prywatno|personal data|personenbezogen|données personnelles",
    r"datos personales|dati personali|dane osobowe|partner|partenaires|socios|zustimm|einwillig|consent|advertis|werb",
    r"track|publicit|pubblicit|annunci|advertenti|akceptuj|drittanbiet|technolog|gerät|device|geräte|abonn|abbon"
    r"|suscri|urządzeni|gegevens",
    "同意|クッキー|隐私|конфиденциальн|personalis|personaliz|geolocation",
)
"""Topics of a consent page."""

ACCEPT: Final = _line(
    r"(?:i )?(?:accept|agree|reject|decline|allow|consent)(?: (?:all|and continue|cookies|to all|& continue))*",
    r"(?:alle )?(?:akzeptieren|ablehnen|zustimmen)(?: (?:und|&) (?:weiter\w*|fortfahren))?",
    r"(?:tout|tous) (?:accepter|refuser)|accepter(?: et continuer| et fermer)?|continuer sans accepter",
    r"aceptar(?: y continuar| todo| todas)?|rechazar(?: y suscribirse| todo)?|acepto",
    r"accetta(?: e continua| tutt[oi])?|rifiuta(?: e abbonati| tutt[oi])?|aceitar(?: tudo| todos)?|aceito",
    r"akkoord|einverstanden|(?:ja, )?ik accepteer(?: cookies)?|alles accepteren|accepteren",
    r"akceptuj(?:ę)?(?: wszystkie)?|zgadzam się|przejdź do serwisu",
    r"принять(?: все)?|согласен|hepsini kabul et|kabul et",
    "全て(?:の cookie を)?受け入れる|すべて(?:許可|同意)(?:する)?|同意する|接受所有|全部接受|同意|모두 동의|동의",
)
"""Buttons of a consent page."""

LOGIN: Final = _any(
    r"\b(?:sign|log)[ -]?in\b|\blogin\b|\banmeld(?:en|ung)\b|\beinloggen\b|se connecter|connexion|identifiez-vous",
    r"(?:iniciar|inicia|inicie) sesión|\baccedi\b|\bentrar\b|fazer login|\binloggen\b|\bzaloguj|logowanie|\bvojti\b",
    r"войти|вход|giriş yap|oturum aç|logga in|logg inn|log ind|kirjaudu|přihlásit|bejelentkez|autentificare|đăng nhập",
    r"σύνδεση|\bmasuk\b|登录|登入|ログイン|로그인|تسجيل الدخول|ورود|התחבר|เข้าสู่ระบบ|लॉग ?इन",
)
"""Headings of a login form."""

MEMBERS: Final = _any(
    r"(?:your|the|this) session (?:has |is |was )?(?:expired|timed out|ended)|you are not (?:logged|signed) in\b",
    r"(?:must|need to|have to|required to) (?:be (?:logged|signed) in|log ?in|sign in) (?:in order )?to (?:view|see"
    r"|access"
    r"|continue|read|use|visit|open)|please (?:log|sign) in (?:again|to (?:continue|view|see|access|read))",
    r"(?:log|sign) in to (?:continue\b|(?:view|see|access|read|unlock) (?:this|the))",
    r"(?:must|need to) log ?in to continue",
    r"accept the (?:terms|conditions).{0,40}(?:connect|internet|wi-?fi)",
    r"sitzung ist abgelaufen|(?:melden sie sich|bitte) (?:bitte )?erneut an(?:melden)?",
    r"(?:müssen sich|musst dich) (?:erst )?anmelden,? um",
    r"session a expiré|(?:devez|vous faut) (?:être connecté|vous connecter) pour|veuillez vous (?:re)?connecter",
    r"(?:debes?|tienes? que|necesitas?) (?:haber )?inicia(?:r|do) sesión para|sesión ha (?:expirado|caducado)",
    r"(?:devi|è necessario) (?:effettuare|fare) (?:l(?:'|’)accesso|il login)|sessione (?:è )?scaduta",
    r"(?:precisa|é necessário) (?:fazer login|estar (?:logado|conectado))|sess[aã]o (?:expirou|expirada)",
    r"(?:moet|dient) (?:ingelogd|in te loggen)|sessie is verlopen|mus(?:isz|i) się zalogować|sesja wygasła",
    r"необходимо (?:авторизоваться|войти)|(?:сессия|сеанс) ист[её]к|oturumunuz(?:un süresi)? (?:doldu|sona erdi)",
    "ログインが必要|ログインしてください|セッションが(?:切れ|タイムアウト)|登录已过期|请(?:先|重新)登录|請(?:先|重新)登入"
    "|로그인이 필요|로그인 후 이용|세션이 만료|يجب تسجيل الدخول|انتهت الجلسة",
)
"""Messages that a page requires a login."""

JAVASCRIPT: Final = _any(
    r"(?:enable|activate|turn on|allow|requires?|needs?|without) (?:the use of )?java ?script",
    r"java ?script (?:is |has been |to be )?"
    r"(?:disabled|required|not (?:enabled|available)|enabled|deaktiviert|aktivieren|désactivé|deshabilitado"
    r"|disabilitato"
    r"|uitgeschakeld|in(?:schakelen|geschakeld)|etkin)",
    r"java ?script (?:must|needs to|in your browser|to (?:run|use|view|continue))",
    r"(?:aktivieren sie|bitte) java ?script",
    r"activer java ?script|(?:habilit|activ)[ae]r? (?:el )?java ?script|abilita(?:re)? java ?script",
    r"включите java ?script|schakel java ?script|java ?script(?:'|’)?i etkin|bật java ?script|povolte java ?script",
    r"(?:ativ|habilit)ar? (?:o )?java ?script|włącz(?:yć)? (?:obsługę )?java ?script|java ?script ?を有効",
    r"启用 ?java ?script|啟用 ?java ?script|(?:자바스크립트|java ?script)(?:를|을)? ?(?:켜|활성|사용|허용)",
    r"(?:تفعيل|تمكين) (?:جافا ?سكر[يب]+ت|java ?script)",
)
"""Messages that a page requires scripts."""

AGE: Final = _any(
    r"are you (?:over|at least|of legal|above) (?:the age of )?(?:1[6-9]|2[01]|eighteen|twenty-one|drinking"
    r"|smoking|age)",
    r"(?:i am|you must be|you are|you(?:'|’)re) (?:over|at least|of legal|above) (?:the age of )?(?:1[6-9]|2[01]"
    r"|eighteen"
    r"|twenty-one|drinking|smoking|age)\b(?:.{0,40}(?:to (?:enter|view|visit|access|continue|see)|in your country"
    r"|website"
    r"|site|page)|\W*$)",
    r"(?<!we )(?:enter|confirm|verify) (?:your (?:age|date of birth|birth ?(?:date|day))|that you are (?:of legal"
    r"|over|at"
    r" least))|(?:1[68]|21)\+? or older\?|must be (?:1[68]|21)\+ to",
    r"bist du (?:schon )?(?:über|mindestens)? ?1[68]|sind sie (?:schon )?(?:über|mindestens)? ?1[68]",
    r"avez-vous (?:plus de |au moins )?(?:1[68] ans|l(?:'|’)âge légal)|(?:eres|es usted) mayor de (?:edad|18)",
    r"sei maggiorenne|(?:hai|avere) (?:più di|almeno) 18|(?:tem|você tem) mais de 18|ukończone 1[68] lat",
    r"ben je (?:ouder dan |minstens )?18",
    r"вам (?:уже )?(?:есть|исполнилось) 18|18 yaşında(?:n büyük)? mısınız|(?:18|20)歳以上ですか",
    r"年满18|满18岁|만 ?1[89]세 이상",
)
"""Questions of an age gate."""

PAYWALL: Final = _any(
    r"subscribe (?:now )?to (?:continue|keep) reading|read the rest of this (?:article|story)",
    r"subscribe to (?:read|unlock|view|access) (?:this|the|more|full)",
    r"to (?:continue|keep) reading,? (?:please )?(?:subscribe|log in|sign (?:in|up)|register|create)",
    r"(?:create an account|sign up|register|log in) to (?:read|continue reading) (?:the|this|full)",
    r"(?:this|the) (?:article|story|content|post) is (?:only |exclusively )?(?:for|available to"
    r"|reserved for) (?:\w+ )?"
    r"(?:subscribers|members)",
    r"available to (?:\w+ )?(?:members|subscribers) only",
    r"you(?:'|’)ve (?:reached|used) (?:your|all).{0,30}(?:free|articles)",
    r"(?:weiterlesen|lesen sie weiter) mit\b|artikel ist (?:nur |exklusiv )?für (?:\w+ )?abonnent|(?:nur"
    r"|exklusiv) für "
    r"abonnent|(?:jetzt|zum) weiterlesen",
    r"réservée?s? (?:à nos|aux) abonnés|il vous reste [\d ]+% de (?:cet|l)|pour lire la suite,? abonnez",
    r"(?:exclusivo|solo) para (?:los )?suscriptores|sigue leyendo (?:por|con)",
    r"suscríbete para (?:seguir|continuar) leyendo",
    r"riservat[oa] agli abbonati|abbonati per (?:continuare|leggere)|exclusivo para assinantes",
    r"assine para (?:continuar|ler)",
    r"alleen voor abonnees|verder lezen\?|(?:pozostało|zostało) (?:ci )?(?:jeszcze )?\d+ ?% (?:artykułu|tekstu)",
    r"tylko dla subskrybent",
    r"(?:доступ\w*|только) (?:для|по) подписчик|只限订阅|订阅后(?:可)?阅读|付费(?:后)?阅读",
    r"会員限定|有料会員|続きをお読み",
    r"구독자 전용|구독 후 이용",
)
"""Messages that a text, or the rest of it, is for subscribers."""

PAYWALL_WORDS: Final = (
    "subscri", "the rest of", " reading", "to read", "members", "free", "articles", "premium", "weiter", "abonn",
    "il vous reste", "la suite", "suscr", "leyendo", "abbon", "assin", "verder", "zostało", "subskry", "подписчик",
    "订阅", "付费", "会員", "続き", "구독",
)  # fmt: skip
"""Text in lower case of which every one of these messages has some; much faster than the patterns."""

REGION: Final = _any(
    r"(?:not|isn(?:'|’)t) (?:currently )?(?:available|accessible|supported) (?:in|from) your (?:country|region"
    r"|location|area)",
    r"(?:blocked|restricted) in your (?:country|region|location)|unavailable (?:due to|for) legal reasons",
    r"attempting to access this website from a country",
    r"in (?:ihrem|deinem) (?:land|region) (?:leider )?nicht (?:verfügbar|erreichbar)",
    r"pas (?:disponible|accessible) dans votre (?:pays|région)",
    r"no (?:está|se encuentra) disponible en (?:tu|su) (?:país|región)",
    r"non (?:è )?disponibile nel tuo paese|não está disponível n[oa] (?:seu|sua) (?:país|região)",
    r"niet beschikbaar in (?:jouw|uw) (?:land|regio)",
    r"niedostępn\w+ w (?:twoim|państwa) kraju|недоступ\w+ в (?:вашей стране|вашем регионе)|ülkenizde kullanılam",
    "お住まいの(?:地域|国)(?:から)?(?:は|では)|所在的?(?:地区|国家|區域)(?:暂)?(?:不|无法|無法)",
    "해당 (?:지역|국가)에서는?.{0,20}(?:없|불가)",
    "غير متاح(?:ة)? في (?:بلدك|منطقتك)",
)
"""Messages that a page is not available in the visitor's region."""

PACE: Final = (
    _any(
        r"(?:you are|you(?:'|’)re) being rate limited|(?:have|has|(?:'|’)ve) (?:sent|made) too many requests",
        r"requests too (?:fast|quickly)",
        r"(?:triggered|exceeded|hit) (?:a|an|the|your|our) (?:\w+ )?rate limit|request rate threshold exceeded",
        r"zu viele anfragen (?:gesendet|gestellt)|(?:trop de|de nombreuses) requêtes (?:ont été|depuis)",
        r"demasiadas (?:solicitudes|peticiones) (?:desde|de su)|troppe richieste (?:dal|da questo)",
        r"слишком много запросов (?:с|от)",
        r"访问(?:过于|太)?频繁|訪問(?:過於|太)頻繁|(?:短時間に|多数の)アクセス.{0,20}制限",
        r"アクセスが(?:拒否|制限|集中)",
        "요청이 너무 많|너무 많은 요청",
    ),
    _line(
        r"(?:error )?(?:429)?\W*+too many requests", r"rate limit(?:ed| exceeded)?",
        "zu viele anfragen", "trop de requêtes",
    ),
)  # fmt: skip
"""Messages of a rate limit, and their headings."""

BROWSER: Final = _any(
    r"your (?:web )?browser is (?:not|no longer) supported",
    r"(?:no longer|do not|don(?:'|’)t) support (?:the|your) browser",
    r"please (?:update|upgrade) your (?:web )?browser",
    r"(?:your browser|you are using a browser that) is (?:out of date|outdated)",
    r"(?:ihr|dein) browser wird (?:leider )?nicht (?:mehr )?unterstützt|ihr browser ist veraltet",
    r"votre navigateur (?:n(?:'|’)est (?:pas|plus)|est obsolète)|(?:tu|su) navegador no es compatible",
    r"il tuo browser non è",
    r"seu navegador não é (?:suportado|compatível)|browser wordt niet ondersteund",
    r"ваш браузер (?:устарел|не поддерживается)",
    "お使いのブラウザ(?:ー)?(?:は|では)(?:サポート|対応|ご利用)|浏览器版本过低",
    "不支持(?:您|当前)的?浏览器|지원하지 않는 브라우저",
    r"please (?:enable|allow|accept) cookies|(?:your browser )?must (?:accept|enable|allow) cookies",
    r"please (?:disable|turn off|deactivate) your ad ?-?blocker|you are using an ad ?-?blocker|ad ?-?blocker detected",
    r"(?:schalten|deaktivieren) sie (?:bitte )?(?:ihren|den) (?:ad|werbe)-?blocker|désactiver votre bloqueur",
)
"""Messages that a page requires another browser, cookies, or no ad blocker."""

QUEUE: Final = _any(
    r"you are (?:now )?in (?:line|the queue)\.?(?!\w| for)|in line ahead of you|your estimated wait(?:ing)? time",
    r"virtual waiting room|sie befinden sich in der warteschlange|vous êtes dans la file d(?:'|’)attente",
)
"""Messages of a waiting room."""

REFUSED: Final = _line(
    r"(?:error |http )?(?:401|403)\W*+(?:forbidden|unauthori[sz]ed|access denied)?", "forbidden",
    "access (?:is )?denied",
    "permission denied", "request (?:rejected|blocked)", "unauthori[sz]ed", "zugriff verweigert",
    "accès (?:refusé|interdit)",
    "acceso denegado", "accesso negato", "acesso negado", "toegang geweigerd", "odmowa dostępu",
    "доступ (?:запрещ[её]н|ограничен)",
    "erişim engellendi", "アクセス拒否", "拒绝访问", "禁止访问", "접근 거부", "접근 권한이 없습니다", "تم رفض الوصول",
)  # fmt: skip
"""Headings of an access-denied page."""
