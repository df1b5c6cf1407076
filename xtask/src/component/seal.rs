//! Closing a core module: every WASI import becomes a function of its own, and the component imports nothing.
//!
//! Rust's standard library reaches for WASI in four ways only, all of them off the happy path but one: keys for
//! `HashMap`. A guest that reaches for more (a clock, a file, a socket) is refused here, by name.

use anyhow::{Context, Result, bail, ensure};
use walrus::ir::{MemArg, StoreKind};
use walrus::{FunctionId, InstrSeqBuilder, LocalId, MemoryId, Module, ModuleConfig, ValType};
use wit_component::{ComponentEncoder, DecodedWasm};

/// The WASI interfaces that the standard library itself names, by prefix: one module may ask for several versions.
const ALLOWED: [&str; 3] = ["wasi:cli/", "wasi:io/", "wasi:random/insecure-seed@"];

/// The keys of every `HashMap`. They are constant, so that results don't depend on the host.
const SEED: [i64; 2] = [0x7361_7973_6f2d_6b65, 0x792d_6f66_2d6d_6170];

/// Which functions keep their names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// All of them: for the twin.
    All,
    /// Those that stand where WASI was: a trap's text then tells a panic from a plain `unreachable`.
    Stubs,
}

/// A closed module.
pub struct Sealed {
    /// As a core module.
    pub core: Vec<u8>,
    /// As the component around it.
    pub component: Vec<u8>,
}

/// Closes a core module that was linked with `--skip-wit-component`.
pub fn seal(core: &[u8], names: Names) -> Result<Sealed> {
    // Bytes 4 to 8 are the version: 1 for a core module, 13 with a layer of 1 for a component.
    ensure!(
        core.get(4..8) != Some(&[0x0d, 0, 1, 0]),
        "this is a component already: link with --skip-wit-component"
    );
    let mut module = ModuleConfig::new()
        .parse(core)
        .context("the linked guest is not a core module")?;
    let imports = outside(&module)?;
    for import in imports {
        close(&mut module, &import)?;
    }
    walrus::passes::gc::run(&mut module);
    if names == Names::Stubs {
        forget_names(&mut module);
    }
    let core = module.emit_wasm();
    let component = ComponentEncoder::default().validate(true).module(&core)?.encode()?;
    let reached: Vec<_> = surface(&component)?
        .into_iter()
        .filter(|line| line.starts_with("import "))
        .collect();
    ensure!(reached.is_empty(), "the sealed component still has {reached:?}");
    Ok(Sealed { core, component })
}

/// What a component imports and exports, one `import NAME` or `export NAME` each, sorted.
pub fn surface(component: &[u8]) -> Result<Vec<String>> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(component)? else {
        bail!("this is a WIT package, not a component");
    };
    let world = &resolve.worlds[world];
    let imports = world
        .imports
        .keys()
        .map(|key| format!("import {}", resolve.name_world_key(key)));
    let exports = world
        .exports
        .keys()
        .map(|key| format!("export {}", resolve.name_world_key(key)));
    let mut surface: Vec<_> = imports.chain(exports).collect();
    surface.sort();
    Ok(surface)
}

struct Outside {
    function: FunctionId,
    module: String,
    name: String,
}

/// The functions that the module imports, all of them known to be harmless to close.
fn outside(module: &Module) -> Result<Vec<Outside>> {
    let mut found = Vec::new();
    let mut refused = Vec::new();
    for import in module.imports.iter() {
        // The component's own bookkeeping of resources it exports, which the encoder provides.
        if import.module.starts_with("[export]") {
            continue;
        }
        match import.kind {
            walrus::ImportKind::Function(function) if ALLOWED.iter().any(|known| import.module.starts_with(known)) => {
                found.push(Outside {
                    function,
                    module: import.module.clone(),
                    name: import.name.clone(),
                });
            }
            _ => refused.push(format!("{}#{}", import.module, import.name)),
        }
    }
    ensure!(
        refused.is_empty(),
        "the guest reaches for {}: the engine knows no world outside it",
        refused.join(", ")
    );
    Ok(found)
}

/// Puts a function of the module's own where an import was.
fn close(module: &mut Module, import: &Outside) -> Result<()> {
    let Outside {
        function,
        module: interface,
        name,
    } = import;
    let answer = Answer::to(interface, name);
    let memory = module.get_memory_id()?;
    if answer != Answer::Trap {
        let signature = module.types.get(module.funcs.get(*function).ty());
        let expected = signature.params() == [ValType::I32] && signature.results().is_empty();
        ensure!(
            expected,
            "{interface}#{name} has another signature than this toolchain's WASI"
        );
    }
    module.replace_imported_func(*function, |(body, arguments)| answer.write(body, arguments, memory))?;
    module.funcs.get_mut(*function).name = Some(format!("sealed {interface}#{name}"));
    Ok(())
}

/// What a closed import does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Gives the constant keys.
    Seed,
    /// Gives an empty list: an error that looks for RUST_BACKTRACE must stay an ordinary error.
    EmptyList,
    /// Does nothing: there is nothing to let go of.
    Nothing,
    /// Traps. Only a panic on its way to standard error gets here.
    Trap,
}

impl Answer {
    fn to(interface: &str, name: &str) -> Self {
        if interface.starts_with("wasi:random/insecure-seed@") {
            Self::Seed
        } else if interface.starts_with("wasi:cli/environment@") && name.starts_with("get-") {
            Self::EmptyList
        } else if name.starts_with("[resource-drop]") {
            Self::Nothing
        } else {
            Self::Trap
        }
    }

    fn write(self, body: &mut InstrSeqBuilder, arguments: &[LocalId], memory: MemoryId) {
        let mut store = |value: i64, offset: u64, align: u32| {
            let place = MemArg { align, offset };
            body.local_get(arguments[0])
                .i64_const(value)
                .store(memory, StoreKind::I64 { atomic: false }, place);
        };
        match self {
            Self::Seed => {
                store(SEED[0], 0, 8);
                store(SEED[1], 8, 8);
            }
            // Address 4 in the low half, length 0 in the high one: Rust's lists are never at address 0.
            Self::EmptyList => store(4, 0, 4),
            Self::Nothing => {}
            Self::Trap => {
                body.unreachable();
            }
        }
    }
}

/// Takes away every name but those of the stubs.
fn forget_names(module: &mut Module) {
    module.name = None;
    for function in module.funcs.iter_mut() {
        function.name.take_if(|name| !name.starts_with("sealed "));
    }
    for table in module.tables.iter_mut() {
        table.name = None;
    }
    for memory in module.memories.iter_mut() {
        memory.name = None;
    }
    for id in module.globals.iter().map(walrus::Global::id).collect::<Vec<_>>() {
        module.globals.get_mut(id).name = None;
    }
    for id in module.data.iter().map(walrus::Data::id).collect::<Vec<_>>() {
        module.data.get_mut(id).name = None;
    }
    for id in module.locals.iter().map(walrus::Local::id).collect::<Vec<_>>() {
        module.locals.get_mut(id).name = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core module with one imported function of the given parameters, called by an exported one.
    fn guest(interface: &str, name: &str, parameters: &[ValType]) -> Vec<u8> {
        let mut module = Module::default();
        let signature = module.types.add(parameters, &[]);
        let (import, _) = module.add_import_func(interface, name, signature);
        let memory = module.memories.add_local(false, false, 1, None, None);
        module.exports.add("memory", memory);
        module.exports.add("run", import);
        module.emit_wasm()
    }

    fn why(core: &[u8]) -> String {
        seal(core, Names::All)
            .err()
            .map_or_else(String::new, |error| format!("{error:#}"))
    }

    #[test]
    fn what_reaches_outside_is_refused_by_name() {
        for interface in ["wasi:filesystem/types@0.2.4", "wasi:clocks/wall-clock@0.2.0", "env"] {
            let why = why(&guest(interface, "open", &[ValType::I32]));
            assert!(why.contains(&format!("reaches for {interface}#open")), "{why}");
        }
    }

    #[test]
    fn a_seed_with_another_signature_is_refused() {
        let why = why(&guest(
            "wasi:random/insecure-seed@0.2.4",
            "insecure-seed",
            &[ValType::I64],
        ));
        assert!(why.contains("another signature"), "{why}");
    }

    #[test]
    fn a_component_is_not_sealed_twice() {
        let why = why(b"\0asm\x0d\0\x01\0");
        assert!(why.contains("a component already"), "{why}");
    }

    #[test]
    fn closed_imports_keep_their_names_and_no_others_do() {
        let core = guest("wasi:cli/stderr@0.2.0", "get-stderr", &[]);
        let mut module = ModuleConfig::new().parse(&core).expect("a module");
        let [import] = &outside(&module).expect("allowed")[..] else {
            panic!("one import")
        };
        close(&mut module, import).expect("closed");
        forget_names(&mut module);
        assert_eq!(module.imports.iter().count(), 0);
        let names: Vec<_> = module
            .funcs
            .iter()
            .filter_map(|function| function.name.as_deref())
            .collect();
        assert_eq!(names, ["sealed wasi:cli/stderr@0.2.0#get-stderr"]);
    }

    #[test]
    fn each_import_has_its_answer() {
        assert!(Answer::to("wasi:cli/environment@0.2.9", "get-environment") == Answer::EmptyList);
        assert!(Answer::to("wasi:cli/environment@0.2.9", "initial-cwd") == Answer::Trap);
        assert!(Answer::to("wasi:io/streams@0.2.0", "[resource-drop]output-stream") == Answer::Nothing);
        assert!(Answer::to("wasi:cli/exit@0.2.0", "exit") == Answer::Trap);
    }
}
