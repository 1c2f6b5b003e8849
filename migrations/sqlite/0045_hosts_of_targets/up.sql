-- The host of a redirect's target, in ASCII form (ADR 83). The program writes it: SQLite has no Punycode. `host_of_target` is a function of
-- the program.
ALTER TABLE links ADD COLUMN target_host TEXT;

UPDATE links SET target_host = host_of_target(target_url) WHERE kind = 1;

-- The last one to five labels of the host, if it has so many. `rtrim` takes away the letters of a label, then the dot before it, and so
-- leaves what is before the last labels. Virtual, so that rows stay as they are.
ALTER TABLE links ADD COLUMN target_host_1 TEXT GENERATED ALWAYS AS (
    substr(target_host, 1 + length(rtrim(target_host, replace(target_host, '.', ''))))
) VIRTUAL;

ALTER TABLE links ADD COLUMN target_host_2 TEXT GENERATED ALWAYS AS (
    nullif(
        substr(
            target_host,
            1 + length(
                rtrim(
                    rtrim(substr(target_host, 1, length(target_host) - length(target_host_1)), '.'),
                    replace(target_host, '.', '')
                )
            )
        ),
        target_host_1
    )
) VIRTUAL;

ALTER TABLE links ADD COLUMN target_host_3 TEXT GENERATED ALWAYS AS (
    nullif(
        substr(
            target_host,
            1 + length(
                rtrim(
                    rtrim(substr(target_host, 1, length(target_host) - length(target_host_2)), '.'),
                    replace(target_host, '.', '')
                )
            )
        ),
        target_host_2
    )
) VIRTUAL;

ALTER TABLE links ADD COLUMN target_host_4 TEXT GENERATED ALWAYS AS (
    nullif(
        substr(
            target_host,
            1 + length(
                rtrim(
                    rtrim(substr(target_host, 1, length(target_host) - length(target_host_3)), '.'),
                    replace(target_host, '.', '')
                )
            )
        ),
        target_host_3
    )
) VIRTUAL;

ALTER TABLE links ADD COLUMN target_host_5 TEXT GENERATED ALWAYS AS (
    nullif(
        substr(
            target_host,
            1 + length(
                rtrim(
                    rtrim(substr(target_host, 1, length(target_host) - length(target_host_4)), '.'),
                    replace(target_host, '.', '')
                )
            )
        ),
        target_host_4
    )
) VIRTUAL;
