-- Decisions to delete the clicks of an account from before a day, which take effect after the program has run for a day.
CREATE TABLE planned_click_deletions (
    account_id     BLOB    NOT NULL PRIMARY KEY CHECK (length(account_id) = 16),
    before_day     INTEGER NOT NULL,
    waited_seconds INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- From now on only deleted accounts have a row here, with the highest day. The others dropped clicks of days that had only
-- seemed old to a wrong clock.
DELETE FROM forgotten_clicks WHERE before_day < 2147483647;
