-- Requests admitted in a calendar minute and a calendar day. Without a foreign key to the account: counts are kept of
-- whatever account is asked about, as any other store of counts would.
CREATE TABLE request_counts (
    account_id uuid           NOT NULL,
    -- 0 is a minute, 1 a day.
    span       smallint       NOT NULL CHECK (span IN (0, 1)),
    -- When the minute or the day began.
    started_at timestamptz(3) NOT NULL,
    admitted   bigint         NOT NULL CHECK (admitted >= 0),
    PRIMARY KEY (account_id, span, started_at)
) WITH (fillfactor = 50);

-- By this, old counts are found and swept away.
CREATE INDEX request_counts_age ON request_counts (started_at);

-- Decides on one request and counts it, if it is admitted, in both windows. Says how many were admitted before it.
--
-- A function, because it takes two steps and the program has one round trip: first the day's row is held, so that the
-- requests of an account come one after the other, and then what has been counted until then is read.
CREATE FUNCTION admit_request(
    of_account uuid, this_minute timestamptz, this_day timestamptz, per_minute bigint, per_day bigint,
    oldest_kept timestamptz,
    OUT in_minute bigint, OUT in_day bigint
) LANGUAGE plpgsql AS $$
BEGIN
    -- The commit does not wait for the disk: a loss of power may take back the last moments of counting.
    PERFORM set_config('synchronous_commit', 'off', true);
    LOOP
        SELECT c.admitted INTO in_day FROM request_counts AS c
            WHERE c.account_id = of_account AND c.span = 1 AND c.started_at = this_day
            FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO request_counts (account_id, span, started_at, admitted) VALUES (of_account, 1, this_day, 0)
            ON CONFLICT DO NOTHING;
    END LOOP;
    SELECT c.admitted INTO in_minute FROM request_counts AS c
        WHERE c.account_id = of_account AND c.span = 0 AND c.started_at = this_minute;
    in_minute := coalesce(in_minute, 0);
    IF in_day >= per_day OR in_minute >= per_minute THEN
        RETURN;
    END IF;
    UPDATE request_counts AS c SET admitted = c.admitted + 1
        WHERE c.account_id = of_account AND c.span = 1 AND c.started_at = this_day;
    IF in_minute > 0 THEN
        UPDATE request_counts AS c SET admitted = c.admitted + 1
            WHERE c.account_id = of_account AND c.span = 0 AND c.started_at = this_minute;
        RETURN;
    END IF;
    INSERT INTO request_counts (account_id, span, started_at, admitted) VALUES (of_account, 0, this_minute, 1);
    -- Counts that are too old to be asked for are swept away as soon as there is a batch of them. A new minute brings two
    -- rows at most, so a batch at a time catches up with any backlog. What another request sweeps is left to it.
    PERFORM 1 FROM request_counts AS o WHERE o.started_at < oldest_kept ORDER BY o.started_at OFFSET 1023 LIMIT 1;
    IF FOUND THEN
        DELETE FROM request_counts AS c
            USING (
                SELECT o.account_id, o.span, o.started_at FROM request_counts AS o
                WHERE o.started_at < oldest_kept
                ORDER BY o.started_at LIMIT 1024 FOR UPDATE SKIP LOCKED
            ) AS old
            WHERE c.account_id = old.account_id AND c.span = old.span AND c.started_at = old.started_at;
    END IF;
END
$$;
