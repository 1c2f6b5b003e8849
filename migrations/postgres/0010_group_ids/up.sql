-- An id names one group, whoever owns it: an import of another account's file must not bring a second one.
CREATE UNIQUE INDEX groups_id ON groups (id);
