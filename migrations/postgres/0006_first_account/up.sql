-- One row, and never another. Who finds no account holds it, and everyone who inserts an account must get past it: so
-- of two programs that set up an empty database at once, one finds the other's account.
CREATE TABLE first_account (
    is_the_row boolean PRIMARY KEY CHECK (is_the_row)
);

INSERT INTO first_account (is_the_row) VALUES (true);
