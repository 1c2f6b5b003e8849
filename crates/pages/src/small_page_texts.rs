//! The texts of the small pages, as a native speaker would write them.

use crate::language::Language;
use crate::password_page_texts::password_words;
use crate::small_pages::SmallPage;

/// The texts of one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) heading: &'static str,
    pub(crate) text: &'static str,
}

pub(crate) const fn words(heading: &'static str, text: &'static str) -> Words {
    Words { heading, text }
}

/// The texts of `page` in `language`.
pub(crate) const fn words_of(page: SmallPage, language: Language) -> Words {
    match language {
        Language::English => english(page),
        Language::German => german(page),
        Language::Spanish => spanish(page),
        Language::French => french(page),
        Language::Russian => russian(page),
        Language::Portuguese => portuguese(page),
    }
}

/// The words before the name of the target site.
pub(crate) const fn continue_to(language: Language) -> &'static str {
    match language {
        Language::English => "Continue to",
        Language::German => "Weiter zu",
        Language::Spanish => "Continuar a",
        Language::French => "Continuer vers",
        Language::Russian => "Перейти на",
        Language::Portuguese => "Continuar para",
    }
}

const fn english(page: SmallPage) -> Words {
    match page {
        SmallPage::Password(page) => password_words(page, Language::English),
        SmallPage::NotFound => words(
            "This link leads nowhere",
            "Check the address for typos. If it is right, the link is no longer available.",
        ),
        SmallPage::Expired => words(
            "This link has expired",
            "It can no longer be opened. If you still need it, ask whoever gave it to you.",
        ),
        SmallPage::ForPeopleOnly => words(
            "This link is for people only",
            "Your browser looks like an automated program to us. Open the link in an ordinary, up-to-date browser.",
        ),
        SmallPage::CountryBlocked => words(
            "Not available in your country",
            "The owner of this link does not offer it where you seem to be. If you use a VPN, try again without it.",
        ),
        SmallPage::MethodNotAllowed => {
            words("This link can only be opened", "Nothing can be sent to it. Open it in a browser instead.")
        }
        SmallPage::Throttled => words(
            "Too many attempts",
            "Too many links that lead nowhere were opened from your network. Please try again in a minute.",
        ),
        SmallPage::Failed => {
            words("Something went wrong", "The fault is ours, not yours. Please try again later.")
        }
        SmallPage::Unavailable => words(
            "Please try again in a moment",
            "We cannot look up this link right now. It should work again in a few seconds.",
        ),
        SmallPage::Root => words(
            "Short links live here",
            "Did someone give you a link to this site? Then part of the address is missing. Open the whole link.",
        ),
    }
}

const fn german(page: SmallPage) -> Words {
    match page {
        SmallPage::Password(page) => password_words(page, Language::German),
        SmallPage::NotFound => words(
            "Dieser Link führt ins Leere",
            "Bitte prüfen Sie, ob die Adresse richtig geschrieben ist. Wenn ja, gibt es den Link nicht mehr.",
        ),
        SmallPage::Expired => words(
            "Dieser Link ist abgelaufen",
            "Er lässt sich nicht mehr öffnen. Falls Sie ihn noch brauchen, fragen Sie bitte dort nach, wo Sie ihn bekommen haben.",
        ),
        SmallPage::ForPeopleOnly => words(
            "Dieser Link ist nur für Menschen",
            "Ihr Browser wirkt auf uns wie ein automatisches Programm. Bitte öffnen Sie den Link in einem \
             gewöhnlichen, aktuellen Browser.",
        ),
        SmallPage::CountryBlocked => words(
            "In Ihrem Land nicht verfügbar",
            "Dieser Link wird dort, wo Sie sich zu befinden scheinen, nicht angeboten. Falls Sie ein VPN nutzen, \
             versuchen Sie es bitte ohne.",
        ),
        SmallPage::MethodNotAllowed => words(
            "Dieser Link lässt sich nur öffnen",
            "An diese Adresse kann nichts gesendet werden. Öffnen Sie sie einfach im Browser.",
        ),
        SmallPage::Throttled => words(
            "Zu viele Versuche",
            "Aus Ihrem Netz wurden zu viele Links geöffnet, die ins Leere führen. Bitte versuchen Sie es in einer \
             Minute noch einmal.",
        ),
        SmallPage::Failed => words(
            "Da ist etwas schiefgegangen",
            "Der Fehler liegt bei uns, nicht bei Ihnen. Bitte versuchen Sie es später noch einmal.",
        ),
        SmallPage::Unavailable => words(
            "Bitte versuchen Sie es gleich noch einmal",
            "Wir können diesen Link gerade nicht nachschlagen. In wenigen Sekunden sollte es wieder gehen.",
        ),
        SmallPage::Root => words(
            "Hier wohnen Kurzlinks",
            "Hat Ihnen jemand einen Link zu dieser Seite gegeben? Dann fehlt ein Teil der Adresse. Öffnen Sie bitte \
             den vollständigen Link.",
        ),
    }
}

const fn spanish(page: SmallPage) -> Words {
    match page {
        SmallPage::Password(page) => password_words(page, Language::Spanish),
        SmallPage::NotFound => words(
            "Este enlace no lleva a ninguna parte",
            "Comprueba que la dirección esté bien escrita. Si lo está, el enlace ya no está disponible.",
        ),
        SmallPage::Expired => words(
            "Este enlace ha caducado",
            "Ya no se puede abrir. Si todavía lo necesitas, pregunta a quien te lo dio.",
        ),
        SmallPage::ForPeopleOnly => words(
            "Este enlace es solo para personas",
            "Tu navegador parece un programa automático. Abre el enlace en un navegador normal y actualizado.",
        ),
        SmallPage::CountryBlocked => words(
            "No disponible en tu país",
            "El propietario de este enlace no lo ofrece en el lugar desde el que pareces conectarte. Si usas una VPN, \
             prueba sin ella.",
        ),
        SmallPage::MethodNotAllowed => {
            words("Este enlace solo se puede abrir", "No se le puede enviar nada. Ábrelo en un navegador.")
        }
        SmallPage::Throttled => words(
            "Demasiados intentos",
            "Desde tu red se han abierto demasiados enlaces que no existen. Inténtalo de nuevo dentro de un minuto.",
        ),
        SmallPage::Failed => {
            words("Algo ha salido mal", "El error es nuestro, no tuyo. Inténtalo de nuevo más tarde.")
        }
        SmallPage::Unavailable => words(
            "Vuelve a intentarlo en un momento",
            "Ahora mismo no podemos consultar este enlace. En unos segundos debería volver a funcionar.",
        ),
        SmallPage::Root => words(
            "Aquí viven los enlaces cortos",
            "¿Alguien te ha dado un enlace a este sitio? Entonces falta parte de la dirección. Abre el enlace completo.",
        ),
    }
}

const fn french(page: SmallPage) -> Words {
    match page {
        SmallPage::Password(page) => password_words(page, Language::French),
        SmallPage::NotFound => words(
            "Ce lien ne mène nulle part",
            "Vérifiez que l’adresse est bien écrite. Si c’est le cas, le lien n’est plus disponible.",
        ),
        SmallPage::Expired => words(
            "Ce lien a expiré",
            "Il ne peut plus être ouvert. Si vous en avez encore besoin, demandez à la personne qui vous l’a donné.",
        ),
        SmallPage::ForPeopleOnly => words(
            "Ce lien est réservé aux humains",
            "Votre navigateur ressemble à un programme automatique. Ouvrez le lien dans un navigateur ordinaire et à \
             jour.",
        ),
        SmallPage::CountryBlocked => words(
            "Pas disponible dans votre pays",
            "Le propriétaire de ce lien ne le propose pas là où vous semblez être. Si vous utilisez un VPN, réessayez \
             sans.",
        ),
        SmallPage::MethodNotAllowed => words(
            "Ce lien peut seulement être ouvert",
            "On ne peut rien lui envoyer. Ouvrez-le dans un navigateur.",
        ),
        SmallPage::Throttled => words(
            "Trop de tentatives",
            "Trop de liens inexistants ont été ouverts depuis votre réseau. Réessayez dans une minute.",
        ),
        SmallPage::Failed => {
            words("Une erreur s’est produite", "Elle vient de nous, pas de vous. Réessayez un peu plus tard.")
        }
        SmallPage::Unavailable => words(
            "Réessayez dans un instant",
            "Nous ne pouvons pas consulter ce lien pour le moment. Tout devrait rentrer dans l’ordre d’ici quelques \
             secondes.",
        ),
        SmallPage::Root => words(
            "Ici vivent des liens courts",
            "On vous a donné un lien vers ce site\u{a0}? Il en manque alors une partie. Ouvrez le lien complet.",
        ),
    }
}

const fn russian(page: SmallPage) -> Words {
    match page {
        SmallPage::Password(page) => password_words(page, Language::Russian),
        SmallPage::NotFound => words(
            "Эта ссылка никуда не ведёт",
            "Проверьте, нет ли в адресе опечатки. Если всё верно, значит, ссылка больше не работает.",
        ),
        SmallPage::Expired => words(
            "Срок действия ссылки истёк",
            "Открыть её больше нельзя. Если она вам ещё нужна, обратитесь к тому, кто вам её дал.",
        ),
        SmallPage::ForPeopleOnly => words(
            "Эта ссылка только для людей",
            "Ваш браузер похож на автоматическую программу. Откройте ссылку в обычном браузере свежей версии.",
        ),
        SmallPage::CountryBlocked => words(
            "Недоступно в вашей стране",
            "Владелец ссылки не открыл её там, где вы, судя по всему, находитесь. Если вы пользуетесь VPN, попробуйте \
             без него.",
        ),
        SmallPage::MethodNotAllowed => words(
            "Эту ссылку можно только открыть",
            "Отправить по ней ничего нельзя. Просто откройте её в браузере.",
        ),
        SmallPage::Throttled => words(
            "Слишком много попыток",
            "Из вашей сети открыли слишком много несуществующих ссылок. Попробуйте ещё раз через минуту.",
        ),
        SmallPage::Failed => {
            words("Что-то пошло не так", "Это наша ошибка, не ваша. Попробуйте, пожалуйста, позже.")
        }
        SmallPage::Unavailable => words(
            "Попробуйте ещё раз чуть позже",
            "Сейчас эту ссылку открыть не получается. Через несколько секунд всё должно заработать.",
        ),
        SmallPage::Root => words(
            "Здесь живут короткие ссылки",
            "Вам дали ссылку на этот сайт? Значит, в адресе не хватает части. Откройте ссылку целиком.",
        ),
    }
}

const fn portuguese(page: SmallPage) -> Words {
    match page {
        SmallPage::Password(page) => password_words(page, Language::Portuguese),
        SmallPage::NotFound => words(
            "Este link não leva a lugar nenhum",
            "Verifique se o endereço está correto. Se estiver, o link já não está disponível.",
        ),
        SmallPage::Expired => words(
            "Este link expirou",
            "Não é mais possível abri-lo. Se você ainda precisar dele, fale com quem o enviou.",
        ),
        SmallPage::ForPeopleOnly => words(
            "Este link é só para pessoas",
            "O seu navegador parece um programa automático. Abra o link em um navegador comum e atualizado.",
        ),
        SmallPage::CountryBlocked => words(
            "Não disponível no seu país",
            "O dono deste link não o disponibiliza onde você parece estar. Se você usa uma VPN, tente sem ela.",
        ),
        SmallPage::MethodNotAllowed => words(
            "Este link só pode ser aberto",
            "Não é possível enviar nada para ele. Abra-o em um navegador.",
        ),
        SmallPage::Throttled => words(
            "Tentativas demais",
            "Muitos links que não existem foram abertos a partir da sua rede. Tente novamente em um minuto.",
        ),
        SmallPage::Failed => words("Algo deu errado", "O erro é nosso, não seu. Tente novamente mais tarde."),
        SmallPage::Unavailable => words(
            "Tente de novo em instantes",
            "Não conseguimos consultar este link agora. Ele deve voltar a funcionar em alguns segundos.",
        ),
        SmallPage::Root => words(
            "Aqui moram os links curtos",
            "Alguém lhe deu um link para este site? Então falta uma parte do endereço. Abra o link completo.",
        ),
    }
}
