-- How many tags an account has, of which its plan allows so many (D122).
ALTER TABLE accounts ADD COLUMN tags_count INTEGER NOT NULL DEFAULT 0 CHECK (tags_count >= 0);
