//! The user's own settings and sessions.

use actix_web::HttpResponse;
use signpost_app::admission::SignedIn;
use signpost_app::people::{PersonError, profile, sessions};
use signpost_domain::analytics::TimeZone;
use signpost_domain::{
    DateLanguage, Email, FieldError, Name, Preferences, SecondFactor, Session, SessionId, Theme, User,
    ViolationCode, Violations,
};

use super::{email_taken, field, message_at, provider, time_zones};
use crate::answer::{page, refused, see_other, with_session};
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, own_shell};
use crate::local_time::{date_and_time, language_name};
use crate::paths::with_query;
use crate::views::{
    Choice, Field, Form, MePage, NavItem, Notice, PasswordForm, ProfileForm, Select, SessionRow,
};
use crate::visit::Visit;

const PATH: &str = "/me";

/// `GET /me`. The query may name an e-mail address that waits for the password.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in_with_accounts().await?;
    let mut view = me_page(&visit, &signed_in).await?;
    if let Some(email) = visit.query().given("email").filter(|_| !view.profile.email_is_fixed) {
        view.profile.email = Field::of(email);
        // Anybody can make a link to this page with an address of theirs.
        view.shell.notice = Some(Notice::warning(TEXTS.email_waits.to_owned()));
    }
    page(&view)
}

/// `POST /me`
pub(crate) async fn save(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in_with_accounts().await?;
    let mut violations = Violations::new();
    let email = Email::parse(form.text("email")).map_err(|error| violations.push(error.at("email"))).ok();
    let name = form.non_empty("name").map(Name::parse).transpose();
    let name = name.map_err(|error| violations.push(error.at("name"))).ok();
    let preferences = preferences_of(&form, &mut violations);
    let (Some(email), Some(name), Some(preferences)) = (email, name, preferences) else {
        return refused(&refused_profile(&visit, &signed_in, &form, &violations).await?);
    };
    let mut waits_for_password = false;
    if email.as_str() != signed_in.user().email.as_str() {
        match profile::change_email(visit.app(), &signed_in, &email, &visit.client()).await {
            Ok(_) => {}
            Err(PersonError::NotConfirmed) => waits_for_password = true,
            Err(PersonError::EmailOfProxy) => {
                let fixed = FieldError::new(ViolationCode::InvalidValue, TEXTS.sign_in_elsewhere.email_fixed);
                let violations = Violations::from(fixed.at("email"));
                return refused(&refused_profile(&visit, &signed_in, &form, &violations).await?);
            }
            Err(PersonError::EmailTaken) => {
                return refused(&refused_profile(&visit, &signed_in, &form, &email_taken()).await?);
            }
            Err(error) => return Err(error.into()),
        }
    }
    profile::update(visit.app(), &signed_in, name, preferences).await?;
    if waits_for_password {
        return Err(Failure::confirm_first(&with_query(PATH, [("email", email.as_str())])));
    }
    Ok(see_other("/me?said=saved"))
}

/// `POST /me/password`
pub(crate) async fn change_password(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in_with_accounts().await?;
    let password = form.text(profile::PASSWORD);
    match profile::change_password(visit.app(), &signed_in, password, &visit.client()).await {
        Ok(opened) => Ok(with_session(see_other("/me?said=password-changed"), visit.origin(), &opened)),
        Err(PersonError::NotConfirmed) => Err(Failure::confirm_first(PATH)),
        Err(PersonError::Invalid(violations)) => {
            let mut view = me_page(&visit, &signed_in).await?;
            if let Some(form) = &mut view.password {
                form.password.error = message_at(&violations, profile::PASSWORD);
            }
            refused(&view)
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /me/sessions/{id}/end`
pub(crate) async fn end_session(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in().await?;
    let id: SessionId = visit.part("id").parse().map_err(|_| Failure::NOT_FOUND)?;
    sessions::end(visit.app(), &signed_in, id, &visit.client()).await?;
    Ok(see_other("/me?said=session-ended"))
}

/// `POST /me/sessions/end-others`
pub(crate) async fn end_others(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in().await?;
    sessions::end_others(visit.app(), &signed_in, &visit.client()).await?;
    Ok(see_other("/me?said=sessions-ended"))
}

fn preferences_of(form: &FormBody, violations: &mut Violations) -> Option<Preferences> {
    let time_zone =
        TimeZone::parse(form.text("time_zone")).map_err(|error| violations.push(error.at("time_zone"))).ok();
    let theme = Theme::parse(form.text("theme")).map_err(|error| violations.push(error.at("theme"))).ok();
    Some(Preferences {
        time_zone: time_zone?,
        theme: theme?,
        date_language: DateLanguage::from_tag(form.text("date_language")).unwrap_or_default(),
        has_shortcuts: form.is_checked("shortcuts"),
    })
}

async fn refused_profile(
    visit: &Visit,
    signed_in: &SignedIn,
    form: &FormBody,
    violations: &Violations,
) -> Result<MePage, Failure> {
    let mut view = me_page(visit, signed_in).await?;
    view.profile = ProfileForm {
        name: field(form.text("name"), violations, "name"),
        email: field(form.text("email"), violations, "email"),
        time_zone: time_zones(form.text("time_zone"), violations),
        theme: Theme::parse(form.text("theme")).unwrap_or_default(),
        theme_error: message_at(violations, "theme"),
        date_language: languages(DateLanguage::from_tag(form.text("date_language")).unwrap_or_default()),
        shortcuts: form.is_checked("shortcuts"),
        ..view.profile
    };
    Ok(view)
}

async fn me_page(visit: &Visit, signed_in: &SignedIn) -> Result<MePage, Failure> {
    let user = signed_in.user();
    let is_confirmed = signed_in.session().is_confirmed(visit.app().clock.now());
    let has_passwords = visit.app().proxy_sign_in.is_none();
    let mut sessions = sessions::list(visit.app(), signed_in).await?;
    let own = signed_in.session().id;
    sessions.sort_by_key(|session| session.id != own);
    let form = || Form { idempotency_key: visit.new_key(), ..Form::default() };
    Ok(MePage {
        profile: ProfileForm {
            form: form(),
            email_needs_password: !is_confirmed,
            email_is_fixed: !has_passwords,
            ..profile_of(user)
        },
        password: has_passwords.then(|| PasswordForm {
            form: form(),
            password: Field::default(),
            needs_confirmation: !is_confirmed,
        }),
        second_factor: has_passwords.then(|| second_factor_of(user)),
        identity: provider::section(visit, signed_in).await?,
        sessions: sessions.iter().map(|session| session_row(visit, signed_in, session)).collect(),
        end_others_key: visit.new_key(),
        shell: own_shell(visit, user, NavItem::Me, TEXTS.title_your_settings),
    })
}

fn second_factor_of(user: &User) -> String {
    let since = |factor: &SecondFactor| date_and_time(factor.set_up_at, &user.preferences);
    let words = TEXTS.second_factor;
    user.second_factor
        .as_ref()
        .map_or_else(|| words.off_text.to_owned(), |factor| (words.on_since)(&since(factor)))
}

fn profile_of(user: &User) -> ProfileForm {
    let Preferences { time_zone, theme, date_language, has_shortcuts } = &user.preferences;
    ProfileForm {
        name: Field::of(user.name.as_ref().map_or("", Name::as_str)),
        email: Field::of(user.email.as_str()),
        time_zone: time_zones(time_zone.name(), &Violations::new()),
        theme: *theme,
        date_language: languages(*date_language),
        shortcuts: *has_shortcuts,
        ..ProfileForm::default()
    }
}

fn languages(chosen: DateLanguage) -> Select {
    let choice =
        |language: DateLanguage| Choice::new(language.tag(), language_name(language), language == chosen);
    Select { options: DateLanguage::ALL.into_iter().map(choice).collect(), error: None }
}

fn session_row(visit: &Visit, signed_in: &SignedIn, session: &Session) -> SessionRow {
    let preferences = &signed_in.user().preferences;
    SessionRow {
        id: session.id.to_string(),
        agent: session.agent.as_ref().map_or_else(String::new, |agent| agent_words(agent.as_str())),
        network: session.network.map_or_else(String::new, |network| network.to_string()),
        signed_in: date_and_time(session.created_at, preferences),
        last_seen: date_and_time(session.seen_at, preferences),
        is_current: session.id == signed_in.session().id,
        idempotency_key: visit.new_key(),
    }
}

/// A browser in words, such as `Firefox on Linux`, as far as its name tells.
fn agent_words(agent: &str) -> String {
    let first = |known: &[(&str, &'static str)]| {
        known.iter().find(|(part, _)| agent.contains(part)).map(|(_, name)| *name)
    };
    // Browsers name those that they resemble, so the more specific come first.
    let browser = first(&[
        ("Edg", "Edge"),
        ("OPR", "Opera"),
        ("Firefox", "Firefox"),
        ("Chrome", "Chrome"),
        ("Safari", "Safari"),
        ("curl", "curl"),
    ]);
    let system = first(&[
        ("Windows", "Windows"),
        ("Android", "Android"),
        ("iPhone", "iOS"),
        ("iPad", "iPadOS"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} {} {system}", TEXTS.browser_on),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => agent.chars().take(60).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_named_in_words() {
        for (agent, words) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1",
                "Safari on iOS",
            ),
            ("curl/8.14", "curl"),
            ("Something else", "Something else"),
        ] {
            assert_eq!(agent_words(agent), words);
        }
    }
}
