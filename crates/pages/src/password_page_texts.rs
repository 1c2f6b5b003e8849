//! The texts of the pages that ask for the password of a link, as a native speaker would write them (D131).

use crate::language::Language;
use crate::small_page_texts::{Words, words};
use crate::small_pages::PasswordPage;

/// The words of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FormWords {
    /// What the field is for.
    pub(crate) label: &'static str,
    pub(crate) button: &'static str,
}

/// The words of the form in `language`.
pub(crate) const fn form_words(language: Language) -> FormWords {
    let (label, button) = match language {
        Language::English => ("Password", "Open the link"),
        Language::German => ("Passwort", "Link öffnen"),
        Language::Spanish => ("Contraseña", "Abrir el enlace"),
        Language::French => ("Mot de passe", "Ouvrir le lien"),
        Language::Russian => ("Пароль", "Открыть ссылку"),
        Language::Portuguese => ("Senha", "Abrir o link"),
    };
    FormWords { label, button }
}

/// The texts of `page` in `language`.
pub(crate) const fn password_words(page: PasswordPage, language: Language) -> Words {
    match language {
        Language::English => english(page),
        Language::German => german(page),
        Language::Spanish => spanish(page),
        Language::French => french(page),
        Language::Russian => russian(page),
        Language::Portuguese => portuguese(page),
    }
}

const fn english(page: PasswordPage) -> Words {
    match page {
        PasswordPage::Asked => {
            words("This link needs a password", "Whoever gave you the link can tell you the password.")
        }
        PasswordPage::Wrong => words(
            "That password is not right",
            "Check it for typos, also for capital letters and spaces, and try again.",
        ),
        PasswordPage::Throttled => words(
            "Too many wrong passwords",
            "The password of this link was wrong too many times. Please try again in a minute.",
        ),
        PasswordPage::TooLong => words(
            "That is too long for a password",
            "Perhaps you pasted something else. Go back, and enter only the password.",
        ),
    }
}

const fn german(page: PasswordPage) -> Words {
    match page {
        PasswordPage::Asked => words(
            "Dieser Link ist mit einem Passwort geschützt",
            "Das Passwort bekommen Sie dort, wo Sie den Link bekommen haben.",
        ),
        PasswordPage::Wrong => words(
            "Dieses Passwort stimmt nicht",
            "Bitte achten Sie auf Tippfehler, auch auf Großbuchstaben und Leerzeichen, und versuchen Sie es noch einmal.",
        ),
        PasswordPage::Throttled => words(
            "Zu viele falsche Passwörter",
            "Das Passwort für diesen Link war zu oft falsch. Bitte versuchen Sie es in einer Minute noch einmal.",
        ),
        PasswordPage::TooLong => words(
            "Das ist zu lang für ein Passwort",
            "Vielleicht haben Sie etwas anderes eingefügt. Bitte gehen Sie zurück und geben Sie nur das Passwort ein.",
        ),
    }
}

const fn spanish(page: PasswordPage) -> Words {
    match page {
        PasswordPage::Asked => {
            words("Este enlace necesita una contraseña", "Pide la contraseña a quien te dio el enlace.")
        }
        PasswordPage::Wrong => words(
            "La contraseña no es correcta",
            "Comprueba si hay errores, también en las mayúsculas y los espacios, e inténtalo de nuevo.",
        ),
        PasswordPage::Throttled => words(
            "Demasiadas contraseñas incorrectas",
            "La contraseña de este enlace ha sido incorrecta demasiadas veces. Inténtalo de nuevo dentro de un minuto.",
        ),
        PasswordPage::TooLong => words(
            "Es demasiado largo para una contraseña",
            "Quizá has pegado otra cosa. Vuelve atrás y escribe solo la contraseña.",
        ),
    }
}

const fn french(page: PasswordPage) -> Words {
    match page {
        PasswordPage::Asked => words(
            "Ce lien demande un mot de passe",
            "Demandez le mot de passe à la personne qui vous a donné le lien.",
        ),
        PasswordPage::Wrong => words(
            "Ce mot de passe n’est pas le bon",
            "Vérifiez les fautes de frappe, les majuscules et les espaces, puis réessayez.",
        ),
        PasswordPage::Throttled => words(
            "Trop de mots de passe erronés",
            "Le mot de passe de ce lien a été erroné trop de fois. Réessayez dans une minute.",
        ),
        PasswordPage::TooLong => words(
            "C’est trop long pour un mot de passe",
            "Vous avez peut-être collé autre chose. Revenez en arrière et saisissez seulement le mot de passe.",
        ),
    }
}

const fn russian(page: PasswordPage) -> Words {
    match page {
        PasswordPage::Asked => {
            words("Для этой ссылки нужен пароль", "Пароль можно узнать у того, кто дал вам ссылку.")
        }
        PasswordPage::Wrong => words(
            "Пароль не подходит",
            "Проверьте, нет ли опечаток, в том числе в заглавных буквах и пробелах, и попробуйте ещё раз.",
        ),
        PasswordPage::Throttled => words(
            "Слишком много неверных паролей",
            "Пароль этой ссылки слишком часто вводили неверно. Попробуйте ещё раз через минуту.",
        ),
        PasswordPage::TooLong => words(
            "Для пароля это слишком длинно",
            "Возможно, вы вставили что-то другое. Вернитесь назад и введите только пароль.",
        ),
    }
}

const fn portuguese(page: PasswordPage) -> Words {
    match page {
        PasswordPage::Asked => words("Este link pede uma senha", "Peça a senha a quem lhe enviou o link."),
        PasswordPage::Wrong => words(
            "Essa senha não está certa",
            "Verifique se há erros de digitação, também nas maiúsculas e nos espaços, e tente de novo.",
        ),
        PasswordPage::Throttled => words(
            "Senhas erradas demais",
            "A senha deste link foi digitada errada vezes demais. Tente novamente em um minuto.",
        ),
        PasswordPage::TooLong => words(
            "Isso é longo demais para uma senha",
            "Talvez você tenha colado outra coisa. Volte e digite apenas a senha.",
        ),
    }
}
