mod corpus;
mod properties;
