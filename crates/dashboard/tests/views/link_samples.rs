//! Samples of the list of links and of the forms of links.

use signpost_dashboard::texts::ENGLISH;
use signpost_dashboard::views::{
    BulkDeletePage, BulkFailure, BulkItem, BulkSummary, Choice, Conflict, ConflictField, EditLinkPage, Field,
    Label, LandingForm, LifeForm, LimitForm, LinkFilter, LinkForm, LinkKind, LinkPasswordForm, LinkRow,
    LinkTag, LinksPage, NamedId, NavItem, NewLinkPage, Pager, PreviewForm, RedirectForm, Select, Tile,
    TimeField, Tone,
};
use signpost_domain::LinkState;

use crate::life_samples::{
    card, empty_way, full_preview, full_way, refused_life, refused_password, refused_preview, refused_way,
    rules, set_password,
};
use crate::samples::{Maker, edit, form, key};

pub(crate) const LONG: &str =
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";

pub(crate) fn add(m: &Maker) {
    links(m);
    link_forms(m);
    edits(m);
}

const ROWS: [(&str, &str, &str, &str); 10] = [
    (
        "Autumn sale",
        "autumn",
        "shop.morgenbrot.example/autumn?utm_source=mail&utm_medium=newsletter",
        "Newsletter",
    ),
    ("Order for Saturday", "sat", "shop.morgenbrot.example/order/saturday", ""),
    ("مقهى الأمل: قائمة الطعام", "menu-ar", "xn--mgbaal8b0b9b2b.example/menu", "العربية"),
    ("Field recording no. 12 🎧", "rec12", "sounds.example.org/recordings/2026/12", "Recordings"),
    ("Opening hours", "open", "www.openinghours.example.com/leipzig/morgenbrot", "Newsletter"),
    (LONG, "donaudampfschifffahrtselektrizitaetenhauptbetriebswerk", LONG, LONG),
    ("Careers", "jobs", "jobs.example.net/morgenbrot?ref=signpost", ""),
    ("東京カフェ", "tokyo", "cafe.example.jp/tokyo", "Partners"),
    (
        "Map to the shop",
        "map",
        "maps.example.com/place/Morgenbrot/@51.3397,12.3731,17z/data=!3m1!4b1",
        "Print",
    ),
    ("Voucher", "gift", "shop.morgenbrot.example/vouchers/25", "Print"),
];

/// The states of links that do not open.
fn states(m: &Maker) -> [Label; 6] {
    let words = ENGLISH.life;
    let name = |state| (words.state_name)(state).to_owned();
    let instant = "3 Dec 2026, 09:00";
    [
        (name(LinkState::Inactive), Tone::Neutral),
        ((words.scheduled)(instant), Tone::Neutral),
        ((words.expired)(instant), Tone::Neutral),
        (name(LinkState::DomainInactive), Tone::Bad),
        (name(LinkState::Exhausted), Tone::Neutral),
        (name(LinkState::Lost), Tone::Bad),
    ]
    .map(|(text, tone)| Label { text: m.w(&text), tone })
}

fn row(m: &Maker, number: usize) -> LinkRow {
    let (title, slug, target, group) = ROWS[number % ROWS.len()];
    let is_landing = number % 7 == 4;
    let short = format!("go.morgenbrot.example/{slug}{number}");
    LinkRow {
        id: format!("rdr_019b5a3ba0b17d2e9f0011223344{number:04}"),
        tile: Tile::of(&m.w(title)),
        kind: if is_landing { LinkKind::Landing } else { LinkKind::Redirect },
        title: m.w(title),
        url: m.some(&format!("https://{short}")),
        short: m.w(&short),
        target: (!is_landing).then(|| m.w(target)),
        group: (!group.is_empty())
            .then(|| NamedId { id: m.w("grp_019b5a3b11aa7c3e8899aabbccddeeff"), name: m.w(group) }),
        tags: ["mail", "Season"][..number % 3 % 2]
            .iter()
            .map(|name| LinkTag { name: m.w(name), query: m.w("?tag=mail") })
            .collect(),
        state: (number % 6 == 3).then(|| states(m)[number / 6 % 6].clone()),
        has_password: number == 2,
        clicks: (number % 9 != 8).then(|| m.w(["1,204", "0", "38", "12,480"][number % 4])),
        created: m.w(["26 Nov", "3 Nov", "14 Oct 2025"][number % 3]),
        created_at: m.w("2026-11-26T20:47:00Z"),
        checked: false,
    }
}

fn filter(m: &Maker) -> LinkFilter {
    let groups = ["Newsletter", "Print", "Partners"];
    LinkFilter {
        domains: ["sgn.example", "brot.example"].map(|name| m.w(name)).to_vec(),
        groups: groups.map(|name| NamedId { id: m.w(&format!("grp_{name}")), name: m.w(name) }).to_vec(),
        states: LinkState::ALL.map(state_choice).to_vec(),
        ..LinkFilter::default()
    }
}

fn state_choice(state: LinkState) -> NamedId {
    NamedId { id: state.as_str().to_owned(), name: (ENGLISH.life.state_name)(state).to_owned() }
}

/// The list of 25 links, whose size is limited.
pub(crate) fn long_list(m: &Maker) -> LinksPage {
    LinksPage {
        shell: m.shell(ENGLISH.links, NavItem::Links),
        can_write: true,
        filter: filter(m),
        rows: (0..25).map(|number| row(m, number)).collect(),
        pager: Pager { newest: None, older: m.some("?after=rdr_019b5a3ba0b17d2e9f00112233440024") },
        idempotency_key: key(100),
        here: String::new(),
        summary: None,
    }
}

fn links(m: &Maker) {
    let list = long_list(m);
    m.add("links", &list);
    m.add("links-empty", &LinksPage { rows: Vec::new(), pager: Pager::default(), ..list.clone() });
    m.add("links-one", &LinksPage { rows: vec![row(m, 0)], pager: Pager::default(), ..list.clone() });
    let set = LinkFilter {
        q: m.w("saturn"),
        group: m.w("grp_Print"),
        tag: m.w("mail, Season"),
        domain: m.w("brot.example"),
        state: m.w("inactive"),
        password: Some(true),
        kind: Some(LinkKind::Landing),
        ..filter(m)
    };
    m.add(
        "links-no-match",
        &LinksPage { rows: Vec::new(), filter: set.clone(), pager: Pager::default(), ..list.clone() },
    );
    let failures = ["Opening hours", LONG]
        .map(|name| BulkFailure { name: m.w(name), reason: m.w("The group no longer exists.") });
    let mut failed = LinksPage {
        summary: Some(BulkSummary { text: m.w("3 links moved. 2 failed:"), failures: failures.to_vec() }),
        pager: Pager { newest: m.some("links"), older: m.some("?after=x") },
        here: m.w("?q=saturn&group=grp_Print"),
        filter: set,
        ..list.clone()
    };
    failed.rows.truncate(6);
    failed.rows[1].checked = true;
    failed.rows[4].checked = true;
    m.add("links-summary", &failed);
    let shell = m.loud_shell(ENGLISH.links, NavItem::Links);
    m.add("links-viewer", &LinksPage { shell, can_write: false, ..list });
    let item = |number| {
        let row = row(m, number);
        BulkItem { id: row.id, name: row.title, short: row.short }
    };
    let page = BulkDeletePage {
        shell: m.shell(ENGLISH.title_bulk_delete, NavItem::Links),
        form: form(101),
        items: [0, 2, 5].map(item).to_vec(),
        back: m.w("?q=sale"),
    };
    m.add("bulk-delete", &page);
}

fn redirect(m: &Maker) -> RedirectForm {
    let pixel = |number, name, selected| Choice::new(format!("pxl_{number}"), m.w(name), selected);
    RedirectForm {
        target_url: m.field("https://shop.morgenbrot.example/autumn?utm_source=mail"),
        slug: m.field("autumn"),
        domain: m
            .select(&[("go.morgenbrot.example", "go.morgenbrot.example"), ("brot.example", "brot.example")]),
        name: m.field("Autumn sale"),
        note: m.field("For the newsletter of October.\nAsk Kofi before changing it."),
        group: m.select(&[("", "Without group"), ("grp_1", "Newsletter"), ("grp_2", LONG)]),
        tags: m.field("mail, Season"),
        is_active: true,
        life: LifeForm {
            zone: m.w("America/Argentina/ComodRivadavia"),
            starts_at: TimeField { field: m.field("2026-12-03T09:00"), ..TimeField::default() },
            expires_at: TimeField { field: m.field("2026-12-24T18:00:07.042"), ..TimeField::default() },
            fallback_url: m.field("https://shop.morgenbrot.example/over"),
        },
        limit: LimitForm { max_clicks: Some(m.field("500")), hint: ENGLISH.life.max_clicks_hint },
        password: set_password(),
        way: full_way(m),
        preview: full_preview(m),
        antibot_enabled: true,
        countries: m.field("DE, FR"),
        pixels: vec![pixel(1, "Meta · Shop", true), pixel(2, "Google Tag Manager · GTM-AB12CDE", false)],
        ..RedirectForm::default()
    }
}

fn empty_redirect(m: &Maker) -> RedirectForm {
    let full = redirect(m);
    RedirectForm {
        domain: full.domain,
        group: full.group,
        is_active: true,
        life: LifeForm { zone: m.w("UTC"), ..LifeForm::default() },
        limit: LimitForm { max_clicks: None, hint: ENGLISH.life.max_clicks_missing },
        password: LinkPasswordForm {
            hint: ENGLISH.link_password.hint_missing,
            ..LinkPasswordForm::default()
        },
        way: empty_way(),
        preview: PreviewForm { inputs: None, hint: ENGLISH.life.preview.hint_missing },
        analytics_enabled: Some(true),
        ..RedirectForm::default()
    }
}

fn refused_redirect(m: &Maker) -> RedirectForm {
    let full = redirect(m);
    let because = |select: Select| Select { error: m.some("It no longer exists."), ..select };
    RedirectForm {
        target_url: m.bad("shop.morgenbrot", "The target needs to begin with http:// or https://."),
        slug: m.bad("autumn sale", "A slug has only letters, digits, - and _."),
        domain: because(full.domain),
        name: m.bad(LONG, "A name has at most 100 characters."),
        note: m.bad("…", "A note has at most 256 characters."),
        group: because(full.group),
        tags: m.bad("a".repeat(51).as_str(), "A tag has at most 50 characters."),
        is_active_error: m.some("Your plan does not have it."),
        life: refused_life(m),
        limit: LimitForm {
            max_clicks: Some(m.bad("1,000", ENGLISH.life.no_number)),
            hint: ENGLISH.life.max_clicks_kept,
        },
        password: refused_password(m),
        way: refused_way(m),
        preview: refused_preview(m),
        antibot_error: m.some("Your plan does not have bot protection."),
        analytics_enabled: Some(false),
        countries: m.bad("XX", "There is no country with the code XX."),
        pixels_error: m.some("At most 10 pixels."),
        ..full
    }
}

fn landing(m: &Maker) -> LandingForm {
    LandingForm {
        title: m.field("Morgenbrot Bakery"),
        description: m.field("Sourdough, rye and far too much butter."),
        slug: m.field("hello"),
        domain: redirect(m).domain,
        note: m.field("Print on the bags."),
        group: redirect(m).group,
        tags: m.field("mail"),
        tags_shown: None,
        is_active: false,
        life: LifeForm { zone: m.w("UTC"), ..LifeForm::default() },
        password: LinkPasswordForm {
            input: Some(Field::default()),
            hint: ENGLISH.link_password.hint,
            ..LinkPasswordForm::default()
        },
        theme: m.theme,
        theme_error: None,
        language: None,
        analytics_enabled: None,
    }
}

fn refused_landing(m: &Maker) -> LandingForm {
    LandingForm {
        title: m.bad("", "A title has 1 to 100 characters."),
        description: m.bad("…", "Too long."),
        slug: m.bad("hello", "Another link has this address."),
        note: m.bad("…", "A note has at most 256 characters."),
        life: refused_life(m),
        password: refused_password(m),
        theme_error: m.some("There is no such theme."),
        language: Some(m.bad("german", "Must be a language tag.")),
        analytics_enabled: Some(true),
        ..landing(m)
    }
}

fn link_forms(m: &Maker) {
    let page = |m: &Maker, form, link| NewLinkPage {
        shell: m.shell(ENGLISH.title_new_link, NavItem::Links),
        form,
        link,
    };
    let redirect = page(m, form(110), LinkForm::Redirect(Box::new(empty_redirect(m))));
    m.add("new-redirect", &redirect);
    let refused = page(m, m.refused(111), LinkForm::Redirect(Box::new(refused_redirect(m))));
    m.add("new-redirect-error", &refused);
    let language = Some(m.field("de-DE"));
    let empty =
        LandingForm { title: Field::default(), language, analytics_enabled: Some(true), ..landing(m) };
    let empty = page(m, form(112), LinkForm::Landing(Box::new(empty)));
    m.add("new-landing", &empty);
    let refused = page(m, m.refused(113), LinkForm::Landing(Box::new(refused_landing(m))));
    m.add("new-landing-error", &refused);
}

fn edits(m: &Maker) {
    let plain = EditLinkPage {
        shell: m.shell("Autumn sale", NavItem::Links),
        can_write: true,
        id: m.w("rdr_019b5a3ba0b17d2e9f00112233440000"),
        name: m.w("Autumn sale"),
        form: edit(120),
        link: LinkForm::Redirect(Box::new(redirect(m))),
        url: m.some("https://go.morgenbrot.example/autumn"),
        short: m.w("go.morgenbrot.example/autumn"),
        qr: Some("<svg viewBox=\"0 0 9 9\"><path fill=\"#fff\" d=\"M0 0h9v9H0z\"/><path stroke=\"#000\" d=\"M1 1.5h3M5 4.500h3\"/></svg>".to_owned()),
        is_new: false,
        is_live: true,
        state: Label { text: m.w(ENGLISH.active), tone: Tone::Good },
        clicks: m.some("1,204"),
        clicks_left: m.some("38 of 500"),
        final_url: m.some("https://shop.morgenbrot.example/autumn?utm_source=newsletter&utm_campaign=Autumn%20sale"),
        rules: rules(m),
        preview: Some(card(m)),
        statistics: m.some("/acc_019b5a3b11aa7c3e8899aabbccddee01/links/rdr_1/analytics"),
        created: m.w("3 Nov 2026, 09:12"),
        updated: m.w("26 Nov 2026, 20:47"),
        delete_key: key(121),
        conflict: None,
    };
    m.add("edit-redirect", &plain);
    m.add("edit-new", &EditLinkPage { is_new: true, ..plain.clone() });
    let [inactive, scheduled, expired, _, exhausted, _] = states(m);
    let closed = EditLinkPage { is_new: true, is_live: false, state: scheduled, ..plain.clone() };
    m.add("edit-new-scheduled", &closed);
    let field = |label: &str, yours: &str, theirs: &str| ConflictField {
        label: m.w(label),
        yours: if yours.is_empty() { String::new() } else { m.w(yours) },
        theirs: m.w(theirs),
    };
    let fields = vec![
        field(
            "Target",
            "https://shop.morgenbrot.example/autumn?utm_source=mail",
            "https://shop.morgenbrot.example/winter",
        ),
        field("Group", "", "Print"),
    ];
    let conflict = Some(Conflict { saved: m.w("2 minutes ago"), fields });
    m.add("edit-conflict", &EditLinkPage { conflict, state: exhausted, ..plain.clone() });
    let link = LinkForm::Redirect(Box::new(refused_redirect(m)));
    m.add(
        "edit-error",
        &EditLinkPage { link, form: m.refused(120), name: m.w(LONG), state: inactive, ..plain.clone() },
    );
    let link = LinkForm::Landing(Box::new(landing(m)));
    let shell = m.loud_shell("Morgenbrot Bakery", NavItem::Links);
    m.add(
        "edit-viewer",
        &EditLinkPage {
            link,
            shell,
            can_write: false,
            state: expired,
            url: None,
            qr: None,
            rules: vec![],
            preview: None,
            ..plain
        },
    );
}
