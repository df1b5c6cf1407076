//! `cargo xtask bless`: makes again what is generated and committed.

use std::fs;

use anyhow::{Context, Result};

use crate::workspace::Workspace;
use crate::{component, eval, setup};

const BEGIN: &str = "<!-- eval:begin -->\n";
const END: &str = "<!-- eval:end -->";

/// The component first: the table is measured with it.
pub fn bless(workspace: &Workspace) -> Result<()> {
    setup::setup(workspace, false)?;
    component::make(workspace)?;
    let path = workspace.root.join("README.md");
    let page = fs::read_to_string(&path).context("cannot read README.md")?;
    let blessed = replace(&page, &eval::table(workspace)?)?;
    if blessed != page {
        fs::write(&path, blessed)?;
        println!("written: README.md");
    }
    Ok(())
}

/// The page with another text between the markers.
fn replace(page: &str, table: &str) -> Result<String> {
    let missing = || format!("README.md has no {} … {END}", BEGIN.trim());
    let (before, rest) = page.split_once(BEGIN).with_context(missing)?;
    let (_, after) = rest.split_once(END).with_context(missing)?;
    Ok(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn only_what_stands_between_the_markers_changes() {
        let page = "# a\n<!-- eval:begin -->\nold\n<!-- eval:end -->\nrest\n";
        let blessed = replace(page, "new\n").expect("markers");
        assert_eq!(blessed, "# a\n<!-- eval:begin -->\nnew\n<!-- eval:end -->\nrest\n");
        assert_eq!(replace(&blessed, "new\n").expect("markers"), blessed);
    }

    #[test]
    fn a_page_without_markers_is_an_error() {
        assert!(replace("# a\n<!-- eval:end -->\n<!-- eval:begin -->\n", "new\n").is_err());
    }
}
