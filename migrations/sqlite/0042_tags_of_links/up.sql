-- Which links have a tag, and which tags a link has (D122). Each list of links of one tag is a range of the first key.
CREATE TABLE link_tags (
    tag_id  BLOB NOT NULL REFERENCES tags (id),
    link_id BLOB NOT NULL REFERENCES links (id) ON DELETE CASCADE,
    PRIMARY KEY (tag_id, link_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX tags_of_link ON link_tags (link_id, tag_id);
