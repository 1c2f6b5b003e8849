-- Which links have a tag, and which tags a link has (D122). Each list of links of one tag is a range of the first key. A node of the
-- previous version deletes links without a look at their tags, so the rows go with the links.
CREATE TABLE link_tags (
    tag_id  uuid NOT NULL REFERENCES tags (id),
    link_id uuid NOT NULL REFERENCES links (id) ON DELETE CASCADE,
    PRIMARY KEY (tag_id, link_id)
);

CREATE INDEX tags_of_link ON link_tags (link_id, tag_id);
