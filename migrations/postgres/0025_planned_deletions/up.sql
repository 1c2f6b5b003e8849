-- Decisions to delete the clicks of an account from before a day, which take effect after a node has run for a day. The
-- account has no foreign key, because clicks outlive their account for some steps.
CREATE TABLE planned_click_deletions (
    account_id     uuid    PRIMARY KEY,
    before_day     integer NOT NULL,
    waited_seconds bigint  NOT NULL
);

-- From now on only deleted accounts have a row here, with the highest day. The others dropped clicks of days that had only
-- seemed old to a wrong clock. A node of the version before may add rows until it stops; packing ignores them.
DELETE FROM forgotten_clicks WHERE before_day < 2147483647;
