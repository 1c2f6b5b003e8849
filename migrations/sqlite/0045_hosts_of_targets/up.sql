-- The host of a redirect's target, in ASCII form, and the lengths of its ends (ADR 83): how many characters its last two labels have, its
-- last three, four and five, as far as it has so many, three digits each. The program writes both, since SQLite has no Punycode, and
-- would take long to cut off labels. The functions are the program's.
ALTER TABLE links ADD COLUMN target_host TEXT;
ALTER TABLE links ADD COLUMN target_host_ends TEXT;

UPDATE links SET target_host = host_of_target(target_url), target_host_ends = host_ends_of_target(target_url) WHERE kind = 1;

-- The ends. Virtual, so that they take no room in the rows.
ALTER TABLE links ADD COLUMN target_host_2 TEXT GENERATED ALWAYS AS (
    CASE WHEN length(target_host_ends) >= 3 THEN substr(target_host, -substr(target_host_ends, 1, 3)) END
) VIRTUAL;
ALTER TABLE links ADD COLUMN target_host_3 TEXT GENERATED ALWAYS AS (
    CASE WHEN length(target_host_ends) >= 6 THEN substr(target_host, -substr(target_host_ends, 4, 3)) END
) VIRTUAL;
ALTER TABLE links ADD COLUMN target_host_4 TEXT GENERATED ALWAYS AS (
    CASE WHEN length(target_host_ends) >= 9 THEN substr(target_host, -substr(target_host_ends, 7, 3)) END
) VIRTUAL;
ALTER TABLE links ADD COLUMN target_host_5 TEXT GENERATED ALWAYS AS (
    CASE WHEN length(target_host_ends) >= 12 THEN substr(target_host, -substr(target_host_ends, 10, 3)) END
) VIRTUAL;
