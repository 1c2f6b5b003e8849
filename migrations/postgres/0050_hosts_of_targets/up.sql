-- The host of a redirect's target in ASCII form, if the target states it in another way: a name with other letters, or an IPv6
-- address. All other hosts are found in the target itself, so that links that are there already, and those of nodes of the previous
-- version, have their hosts too (ADR 83).
ALTER TABLE links ADD COLUMN target_host text COLLATE "C";

-- The host of a target: between the slashes and the port, the path, the query or the fragment, in lower case and without a final dot.
-- Functions of indexes must not call others by name: a restored dump has an empty search path.
CREATE FUNCTION host_of_target(target_url text, target_host text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(
        target_host,
        rtrim(
            lower(
                split_part(split_part(split_part(split_part(target_url, '/', 3), '?', 1), '#', 1), ':', 1) COLLATE "C"
            ),
            '.'
        )
    )
$$;

-- The last labels of a host, if it has so many. The cost keeps PostgreSQL from a plan that computes it for rows that it has found
-- already, to check or to sort them. The indexes have it.
CREATE FUNCTION end_of_host(host text, labels integer) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
DECLARE
    parts text[] := string_to_array(host, '.');
BEGIN
    IF cardinality(parts) < labels THEN
        RETURN NULL;
    END IF;
    RETURN array_to_string(parts[cardinality(parts) - labels + 1 :], '.');
END
$$;
