-- Most changes of a link leave its address and its place in the lists as they are. Where there is room on the page for the
-- new row, none of the indexes is touched.
ALTER TABLE links SET (fillfactor = 90);
