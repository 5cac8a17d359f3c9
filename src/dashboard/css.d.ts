// Style sheets are imported for the bundler; they export nothing.
declare module "*.css";
