-- The hosts of the links that are there already, where the targets state them in another way than ASCII. SQL has no Punycode, so the
-- program writes them, in transactions of their own before this one (`target_host_migration.rs` of the store). A node of the previous
-- version that still runs writes none: such a link is found by its host once a node of this version changes it.
SELECT 1;
