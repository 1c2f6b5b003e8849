//! The card that link previewers show of a redirect: a part of its form, and a sketch on its page (D135).

use super::form::Field;

/// The part of the form of a redirect that sets its card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PreviewForm {
    /// The inputs; `None` if the plan has no cards, and the redirect has none that can be removed.
    pub inputs: Option<PreviewInputs>,
    /// What the card does, or why there are no inputs.
    pub hint: &'static str,
}

/// The inputs of a card. If all are empty, there is no card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PreviewInputs {
    /// `preview_title`
    pub title: Field,
    /// `preview_description`
    pub description: Field,
    /// `preview_image_url`
    pub image_url: Field,
}

/// A card as previewers show it. The page loads no pictures from elsewhere, so it has the address of the picture only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CardSketch {
    /// The title.
    pub title: String,
    /// The text below the title.
    pub description: Option<String>,
    /// The address of the picture.
    pub image_url: Option<String>,
}

impl PreviewForm {
    /// Whether there is a card, or one was refused, so that the fields are shown.
    pub(super) fn is_special(&self) -> bool {
        let is_set = |field: &Field| !field.value.is_empty() || field.error.is_some();
        self.inputs.as_ref().is_some_and(|PreviewInputs { title, description, image_url }| {
            [title, description, image_url].into_iter().any(is_set)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d135_the_fields_are_shown_once_one_of_them_says_something() {
        let form = |inputs| PreviewForm { inputs, hint: "" };
        let empty = PreviewInputs::default;
        assert!(!form(None).is_special() && !form(Some(empty())).is_special());
        let refused = Field { error: Some("Must not be empty.".to_owned()), ..Field::default() };
        for special in [
            PreviewInputs { title: Field::of("Autumn"), ..empty() },
            PreviewInputs { description: Field::of("Sale"), ..empty() },
            PreviewInputs { image_url: Field::of("x"), ..empty() },
            PreviewInputs { title: refused, ..empty() },
        ] {
            assert!(form(Some(special)).is_special());
        }
    }
}
