"""Each rule passes a tree that keeps it and names the fault in one that does not.

    python3 -m unittest discover -s scripts/lint/tests
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LINT = Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(LINT))

from lint_common import RULES, STRICT_RULES, mask, prose  # noqa: E402

CORE = "Sources/SignetCore/Rule.swift"
STORE = "Sources/SignetStorage/Store.swift"
ALLOW = "scripts/lint/allow.txt"
WORDS = "scripts/lint/words.txt"
RULE_TESTS = "Tests/SignetCoreTests/RuleTests.swift"
PAGE = "docs/protocol/wire.md"
THREATS = "docs/design/threats.md"
COMPATIBILITY = "docs/reference/compatibility.md"
VERIFIER = "docs/reference/verifier.md"
OAUTH = "docs/reference/oauth-rfcs.md"
VENDOR = "docs/reference/vendor-tests/Push.md"
COUNTS = "docs/reference/vendor-tests/README.md"
PROMISES = "docs/reference/promises.md"
OPENID = "docs/reference/openid-conformance.md"
GUIDE = "docs/guides/codes.md"
ARTICLE = "Sources/SignetCore/SignetCore.docc/SignetCore.md"
TUTORIAL = "Sources/SignetCore/SignetCore.docc/Tutorials/MakeCode.tutorial"
STEP = "Sources/SignetCore/SignetCore.docc/Tutorials/step-1.swift"
LAST_STEP = "Sources/SignetCore/SignetCore.docc/Resources/code.swift"
SNIPPET = "Snippets/MakeCode.swift"

WHOLE = "import SignetCore\n\nfunc makeCode() -> Rule? {\n    let rule: Rule? = nil\n    let hidden = 1\n\n    return rule\n}\n"

MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription

let rules: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "tree",
    dependencies: [.package(url: "https://github.com/apple/swift-crypto", from: "4.5.2")],
    targets: [
        .target(
            name: "SignetCore", dependencies: [.product(name: "Crypto", package: "swift-crypto")], swiftSettings: rules),
        .target(name: "SignetStorage", dependencies: ["SignetCore"], swiftSettings: rules),
        .systemLibrary(name: "CPNG"),
        .executableTarget(name: "signet", dependencies: ["SignetStorage", "CPNG"], swiftSettings: rules),
        .testTarget(name: "SignetCoreTests", dependencies: ["SignetCore", "signet"], swiftSettings: rules),
        .testTarget(name: "SignetStorageTests", dependencies: ["SignetStorage"], swiftSettings: rules),
    ]
)
"""

def promises(changed: dict[int, str], count: int = 143) -> str:
    """A page of promises: six that differ, four that do not apply, and 133 that hold."""
    rows = dict.fromkeys(range(1, count + 1), "SignetCoreTests/holds | ")
    rows |= dict.fromkeys(range(1, 7), "SignetCoreTests/holds | differs because x")
    rows |= dict.fromkeys(range(7, 11), " | does not apply: x") | changed
    table = "".join(f"| {number} | 1 | a | `Hidden.size` | {row} |\n" for number, row in rows.items())
    return "| # | line | promise | symbol | test | remark |\n" + table


def plans(changed: dict[str, str] = {}) -> str:
    """A page of the OpenID Foundation's plans, with a row for each module."""
    page = "# Plans\n"
    for line in (LINT / "openid-modules.txt").read_text().splitlines():
        if line.startswith(" "):
            page += f"| {line.strip()} | passes | `SignetCoreTests/holds` | |\n"
        elif line and not line.startswith("#"):
            page += f"## A: `{line}`\n\n| module | outcome | test | note |\n| --- |\n"
    page += "## Others\n\n`SignetCoreTests/holds` is a test, and `docs/reference` a folder.\n"
    for old, new in changed.items():
        page = page.replace(old, new, 1)
    return page


# A tree that keeps every rule, often by a hair.
GOOD = {
    "Package.swift": MANIFEST,
    ".swift-format": (LINT.parents[1] / ".swift-format").read_text(),
    "Sources/CPNG/module.modulemap": "module CPNG [system] {}\n",
    CORE: '''\
private import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A rule.
///
/// Its text may say `Date()`, try! and print( as it likes.
public struct Rule: Equatable, Sendable {
    /// "nonisolated(unsafe)" in a literal, a comment's { and a character's, harm nothing.
    public static let text = "static var x = 1; \\("fatalError".count) { as! /* "
    // print("{")

    /// Computed, so it is constant.
    public static var answer: Int { 42 }

    /// An outcome.
    public enum Outcome {
        /// Well.
        case good
        /// Not well, for a reason.
        case bad(reason: String)
    }

    /// Makes one.
    @available(
        *, deprecated,
        message: "use another (or none)"
    )
    @discardableResult
    public init?(at date: Date, by clock: () -> Date = { .distantPast }) {
        terminal.print(date)
    }

    /// Compares.
    public static func == (left: Rule, right: Rule) -> Bool { true }
}

/// A store.
public protocol Store {
    /// Reads.
    func read() async throws -> Int

    /// Writes.
    var size: Int { get }
}
''',
    PAGE: "# Wire\n\n## 1. `Both` ends\n\n### 1.2 [A message](#1-both-ends)\n\n```\n[no](nowhere) # 1.9\n```\n",
    "README.md": "[It](docs/protocol/wire.md#12-a-message), `Sources/*/Rule.swift`, " + PAGE + ", [here](#top)\n# Top\n",
    "Makefile": "# protocol/wire.md sections 1\n# and 1.2\n",
    STORE: "public import SignetCore\n\nstruct Hidden {\n    var size = 0\n}\n",
    "Sources/SignetStorage/Stores/Clock.swift": "#if os(Linux)\nlet here = 1\n#endif\n",
    "Sources/signet/Main.swift": "import CPNG\nimport SignetStorage\n\nlet text = String(validating: [], as: UTF8.self)\n",
    "Tests/SignetStorageTests/StoreTests.swift": "@testable import SignetStorage\n",
    "Tests/SignetCoreTests/RuleTests.swift": "import Testing\n\n@testable import SignetCore\n\nlet now = Date()\n"
    "let c = #expect(throws: E.self) { f() }\nlet d = #expect(a(b) == \"{\")  // {\n\n"
    'struct RuleTests {\n    @Test("A rule holds, always", arguments: [1])\n    func holds() {}\n}\n',
    THREATS: "| # | attack | defense | test |\n| --- | --- | --- | --- |\n"
    '| 1 | A | B | RuleTests "A rule holds", "always" (twice); SignetCoreTests/RuleTests "holds" |\n| 2 | A | B | none: out of scope |\n',
    COMPATIBILITY: "| # | behavior | test |\n| --- | --- | --- |\n| S1 | A | RuleTests \"A rule holds\" |\n",
    VERIFIER: "| # | requirement | test |\n| --- | --- | --- |\n| 9068-1 | A | RuleTests \"A rule holds\" |\n",
    OAUTH: "| # | requirement | test |\n| --- | --- | --- |\n| 9126-1 | A | RuleTests \"A rule holds\" |\n",
    VENDOR: "| their test | our test | remark |\n| --- | --- | --- |\n| A.a | `SignetCoreTests/holds`, SignetCoreTests/holds | |\n"
    "| A.b | | differs because x |\n| A.c | | missing |\n| A.d | SignetCoreTests/holds | differs because y |\n",
    COUNTS: "| page | rows | the same | differs, tested | differs, not tested | missing |\n| --- | --- |\n"
    "| Push | 4 | 1 | 1 | 1 | 1 |\n| all | 4 | 1 | 1 | 1 | 1 |\n",
    PROMISES: promises({}),
    OPENID: plans(),
    SNIPPET: "// A rule,\n// or none.\n\nimport SignetCore\n\nfunc makeCode() -> Rule? {\n    // snippet.show\n    let rule: Rule? = nil\n    // snippet.hide\n"
    "    let hidden = 1\n    // snippet.show\n\n    return rule\n    // snippet.hide\n}\n",
    GUIDE: "```swift\nlet rule: Rule? = nil\n\nreturn rule\n```\n\n<!-- not-compiled: another system -->\n\n```swift\nlet a = 1\n```\n\n```swift\n.package(url: \"a\", from: \"1.0.0\")\n```\n",
    ARTICLE: "# ``SignetCore``\n\n```swift\nlet hidden = 1\n```\n",
    # A tutorial may import what the target does not declare.
    STEP: "import SignetCore\n\nfunc makeCode() -> Rule? {\n    let rule: Rule? = nil\n}\n",
    # The tutorial has the order of the steps, and not the names of the files.
    TUTORIAL: '@Code(name: "Make a code.swift", file: "step-1.swift")\n@Code(\n  name: "Make a code.swift", file: code.swift, reset: true)\n',
    LAST_STEP: WHOLE,
}  # fmt: skip

DOCUMENTED = "/// A rule.\npublic struct Rule {\n"
SETTINGS = "    .swiftLanguageMode(.v6),\n"


def manifest(old: str, new: str) -> dict[str, str]:
    assert old in MANIFEST
    return {"Package.swift": MANIFEST.replace(old, new)}


def function(lines: int) -> str:
    return "func long(\n    _ done: () -> Void = {}\n) {\n" + "    work()\n" * (lines - 4) + "}\n"


HEAD = "| their test | our test | remark |\n"

# rule, what is wrong in the tree, where the finding is, what it says
FAULTS = [
    ("imports", {STORE: "import SignetCore\nimport Crypto\n"}, f"{STORE}:2:", "does not declare"),
    ("imports", {STORE: "import SignetCore\n@_spi(X) public import struct NIOCore.ByteBuffer\n"}, f"{STORE}:2:", "NIOCore"),
    ("imports", {STORE: "import SignetCore\nimport Testing\n"}, f"{STORE}:2:", "Testing"),
    ("imports", {STORE: "// import SignetCore\n"}, "Package.swift:19:", "declares SignetCore and never imports it"),
    ("imports", {CORE: "import Crypto\nimport Foundation\n"}, f"{CORE}:2:", "SignetCore imports Foundation"),
    ("imports", {CORE: "import Crypto\n#if os(Linux)\n@preconcurrency import Glibc\n#endif\n"}, f"{CORE}:3:", "Glibc"),
    (
        "imports",
        manifest('name: "SignetCore", dependencies: [', 'name: "SignetCore", dependencies: ["SignetStorage", '),
        "Package.swift:17:",
        "SignetCore -> SignetStorage does not point down",
    ),
    (
        "imports",
        # Down by rank, and not among what the server may have.
        manifest(
            'name: "SignetStorage", dep',
            'name: "SignetJourney"), .target(name: "SignetServer", dependencies: ["SignetJourney"]), '
            '.target(name: "SignetStorage", dep',
        )
        | {"Sources/SignetJourney/Journey.swift": "\n", "Sources/SignetServer/Server.swift": "import SignetJourney\n"},
        "Package.swift:19:",
        "SignetServer -> SignetJourney does not point down",
    ),
    ("imports", manifest('name: "SignetStorage"', 'name: "Attic"'), "Package.swift:19:", "Attic has no rank"),
    ("imports", manifest('"SignetStorageTests"', '"StoreTests"'), "Package.swift:19:", "SignetStorage has no test target"),
    ("language", manifest("tools-version: 6.2", "tools-version: 6.3"), "Package.swift:1:", "tools version 6.3.0"),
    ("language", manifest(SETTINGS, "    .swiftLanguageMode(.v5),\n"), "Package.swift:17:", ".swiftLanguageMode(.v6)"),
    ("language", manifest("(as: .error)", "(as: .warning)"), "Package.swift:17:", ".treatAllWarnings(as: .error)"),
    ("language", manifest("ExistentialAny", "BareSlashRegexLiterals"), "Package.swift:17:", "ExistentialAny"),
    ("language", manifest('Default")', 'Default", .when(platforms: [.linux]))'), "Package.swift:17:", "InternalImportsByDefault"),
    ("language", manifest('["SignetCore", "signet"], swiftSettings: rules', '["SignetCore", "signet"]'),
        "Package.swift:22:", "SignetCoreTests is built without .swiftLanguageMode"),
    ("language", manifest('.target(name: "SignetStorage"', '.executableTarget(name: "App", path: "Examples/App"), .target(name: "SignetStorage"'),
        "Package.swift:19:", "App is an app: give it a language mode"),
    ("forbidden", {STORE: "final class Box: @unchecked Sendable {}\n"}, f"{STORE}:1:", "@unchecked"),
    ("forbidden", {STORE: "nonisolated(unsafe) let x = 1\n"}, f"{STORE}:1:", "nonisolated(unsafe)"),
    ("forbidden", {STORE: "enum A {\n    private static var x = 1\n}\n"}, f"{STORE}:2:", "mutable global"),
    ("forbidden", {STORE: "enum A {\n    static var x: Int? { didSet { use() } }\n}\n"}, f"{STORE}:2:", "mutable global"),
    ("forbidden", {STORE: "@MainActor private var shared = 1\n"}, f"{STORE}:1:", "mutable global"),
    ("forbidden", {STORE: "enum A {\n    static let shared = Mutex(0)\n}\n"}, f"{STORE}:2:", "mutable global"),
    ("format", {STORE: 'let a = "\\(try! read())"\n'}, f"{STORE}:1:", "NeverUseForceTry"),
    ("format", {STORE: 'let a = #"""\n    \\#(b as! Int)\n    """#\n'}, f"{STORE}:2:", "NeverForceUnwrap"),
    ("format", {STORE: "public struct Bare {}\n"}, f"{STORE}:1:", "AllPublicDeclarationsHaveDocumentation"),
    ("format", {STORE: "/// A rule. More.\nstruct Rule {}\n"}, f"{STORE}:2:", "BeginDocumentationCommentWithOneLineSummary"),
    ("format", {STORE: "/// Adds.\n/// - Parameter a: One.\nfunc add(_ a: Int, _ b: Int) {}\n"}, f"{STORE}:", "ValidateDocumentation"),
    ("format", {STORE: DOCUMENTED + "    // no\n    @frozen public let size: Int\n}\n"}, f"{STORE}:4:", "AllPublicDeclarations"),
    ("format", {STORE: "let a = b!\n"}, f"{STORE}:1:", "NeverForceUnwrap"),
    ("format", {STORE: "class A { var b: Int! }\n"}, f"{STORE}:1:", "NeverUseImplicitlyUnwrappedOptionals"),
    ("forbidden", {STORE: 'func f() -> Never { fatalError("no") }\n'}, f"{STORE}:1:", "`fatalError`"),
    ("forbidden", {STORE: 'func f() {\n    Swift.print("no")\n}\n'}, f"{STORE}:2:", "`print`"),
    ("forbidden", {STORE: "func f(now: Date = Date()) {}\n"}, f"{STORE}:1:", "WallClock"),
    ("forbidden", {STORE: "let now = Date.now\n"}, f"{STORE}:1:", "WallClock"),
    ("forbidden", {STORE: "let a = make() ?? NoEncryptor()\n"}, f"{STORE}:1:", "to seal nothing"),
    ("forbidden", {STORE: 'let a = StreamLogHandler.standardError(label: "a")\n'}, f"{STORE}:1:", "control characters"),
    ("forbidden", {STORE: "let id = UUID()\n"}, f"{STORE}:1:", "randomness"),
    ("forbidden", {STORE: "let a = String(\n    validating: b, as: UTF8.self)\n"}, f"{STORE}:1:", "needs iOS 18"),
    ("macros", {RULE_TESTS: "func a() {\n    #expect(a.contains { $0 })\n}\n"}, f"{RULE_TESTS}:2:", "inside #expect"),
    ("macros", {RULE_TESTS: "let b = try #require(\n    f(x) ?? a.first { $0 })\n"}, f"{RULE_TESTS}:1:", "inside #expect"),
    ("macros", {RULE_TESTS: '#expect(a, "\\(b.map { $0 })")\n'}, f"{RULE_TESTS}:1:", "inside #expect"),
    ("test-names", {RULE_TESTS: "@Test func a() {}\n"}, f"{RULE_TESTS}:1:", "no plain title"),
    ("test-names", {RULE_TESTS: "@Test(arguments: [1])\nfunc a(b: Int) {}\n"}, f"{RULE_TESTS}:1:", "no plain title"),
    ("test-names", {RULE_TESTS: "@MainActor @Test func a() {}\n"}, f"{RULE_TESTS}:1:", "no plain title"),
    ("test-names", {RULE_TESTS: '@Test("it holds")\nfunc a() {}\n'}, f"{RULE_TESTS}:1:", "is not a statement"),
    ("test-names", {RULE_TESTS: '@Test("S1: it holds")\nfunc a() {}\n'}, f"{RULE_TESTS}:1:", "is not a statement"),
    ("test-names", {RULE_TESTS: '@Test("Is it so?")\nfunc a() {}\n'}, f"{RULE_TESTS}:1:", "is not a statement"),
    ("test-names", {RULE_TESTS: '@Test("It holds.")\nfunc a() {}\n'}, f"{RULE_TESTS}:1:", "is not a statement"),
    ("test-names", {"Tests/SignetStorageTests/StoreTests.swift": '@Test("S1, C2: A store holds")\nfunc holds() {}\n'},
     "Tests/SignetStorageTests/StoreTests.swift:1:", f"the test function holds is in {RULE_TESTS} too"),
    ("words", {STORE: "/// What it holds.\nlet a = 1\n"}, f"{STORE}:1:", "begins with `What`"),
    ("words", {STORE: "/// A store.\n///\n/// Nobody else has it.\nlet a = 1\n"}, f"{STORE}:3:", "name the actor"),
    ("words", {STORE: "/// Whether it is\n/// no store.\nlet a = 1\n", WORDS: f"3 {STORE}\n"}, f"{STORE}:1:", "1 places"),
    ("words", {STORE: "final class Desk {}\n"}, f"{STORE}:1:", "`Desk` is an old term"),
    ("words", {RULE_TESTS: "let byHand = true\n"}, f"{RULE_TESTS}:1:", "`byHand` is an old term"),
    ("words", {PAGE: "# 1\n\nNobody else has it.\n"}, f"{PAGE}:3:", "name the actor"),
    ("words", {"CHANGELOG.md": "# 1\n\nThe `desk` is new.\n"}, "CHANGELOG.md:3:", "`desk` is an old term"),
    ("words", {STORE: "let a = 1  // Sent by the courier.\n"}, f"{STORE}:1:", "`courier` is an old term"),
    ("words", {STORE: "let a = 1  // Nobody reads it.\n"}, f"{STORE}:1:", "name the actor"),
    ("words", {STORE: 'let a = "\\(b) is no number"\n'}, f"{STORE}:1:", "say what it is"),
    ("words", {STORE: 'let a = """\n    one\n    sent to nobody here\n    """\n'}, f"{STORE}:3:", "name the actor"),
    ("words", {RULE_TESTS: '@Test("A thief gets in")\nfunc a() {}\n'}, f"{RULE_TESTS}:1:", "`thief` is an old term"),
    ("words", {RULE_TESTS: '@Suite("Rules for who asks")\nstruct A {}\n'}, f"{RULE_TESTS}:1:", "name the actor"),
    ("words", {RULE_TESTS: "/// Whether it holds.\nlet a = true\n"}, f"{RULE_TESTS}:1:", "begins with `Whether`"),
    ("words", {"Sources/SignetServer/Web/app.js": "// The journaled form\n"}, "Sources/SignetServer/Web/app.js:1:", "old term"),
    ("words", {STORE: 'let a = "use one: say --resume, or say another --profile"\n'}, f"{STORE}:1:", "`say --resume` is an old term"),
    ("words", {STORE: 'let a = "say with --url where it is"\n'}, f"{STORE}:1:", "`say with --url` is an old term"),
    ("words", {PAGE: "# 1\n\nThe link of an e-mail.\n"}, f"{PAGE}:3:", "`e-mail` is an old term"),
    ("words", {STORE: "struct RecognisedByApp {}\n"}, f"{STORE}:1:", "`RecognisedByApp` is an old term"),
    ("words", {STORE: "/// It is cancelled.\nlet a = 1\n"}, f"{STORE}:1:", "American spelling"),
    ("words", {STORE: "let a = 1  // A cancelled task.\n"}, f"{STORE}:1:", "American spelling"),
    ("words", {RULE_TESTS: '@Test("A cancelled task ends")\nfunc a() {}\n'}, f"{RULE_TESTS}:1:", "American spelling"),
    ("words", {"Package.swift": MANIFEST + "// What is true.\n"}, f"Package.swift:{MANIFEST.count(chr(10)) + 1}:", "begins with `What`"),
    ("words", {"Package.swift": MANIFEST + "// Nobody reads it.\n"}, f"Package.swift:{MANIFEST.count(chr(10)) + 1}:", "name the actor"),
    ("words", {".ci/run": "# Everybody waits for it.\n"}, ".ci/run:1:", "name the actor"),
    ("words", {".github/ci.yml": "# Everybody waits for it.\n"}, ".github/ci.yml:1:", "name the actor"),
    ("words", {"SECURITY.md": "# 1\n\nThe `desk` is new.\n"}, "SECURITY.md:3:", "`desk` is an old term"),
    ("words", {STORE: 'let a = "custodian"\n', ALLOW: f'words {STORE}:"custodian" -- stored\n'}, f"{ALLOW}:1:", "1 exceptions"),
    ("words", {ALLOW: f'words {STORE}:"desk" -- stored\n', WORDS: f"1 {ALLOW}\n"}, f"{ALLOW}:1:", "matches nothing any more"),
    ("words", {WORDS: f"1 {ALLOW}\n"}, f"{ALLOW}:1:", "0 exceptions"),
    ("words", {WORDS: f"1 {STORE}\n"}, f"{STORE}:1:", "0 places"),
    ("words", {WORDS: "1 Sources/Gone.swift\n"}, f"{WORDS}:1:", "there is no file"),
    ("language", manifest('NonsendingByDefault")', 'Sending")'), "Package.swift:17:", "NonisolatedNonsendingByDefault"),
    ("platform", {STORE: "#if os(Linux)\nlet a = 1\n#endif\n"}, f"{STORE}:1:", "`os(Linux)` outside"),
    ("platform", {STORE: "#if DEBUG\n#elseif canImport(UIKit)\nimport UIKit\n#endif\n"}, f"{STORE}:2:", "`canImport(UIKit)`"),
    ("platform", {STORE: "#if canImport(Glibc)\nimport Glibc\nlet a = 1\n#endif\n"}, f"{STORE}:1:", "`canImport(Glibc)`"),
    ("size", {STORE: "// line\n" * 401}, f"{STORE}:1:", "401 lines, above 400"),
    ("size", {STORE: "\n" + function(61)}, f"{STORE}:2:", "long is 61 lines long, above 60"),
    ("format", {STORE: "let a = 1;\n"}, f"{STORE}:1:", "DoNotUseSemicolons"),
    ("format", {".swift-format": None}, ".swift-format:1:", "missing"),
    ("paths", {STORE: "// see /" + "work/main\n"}, f"{STORE}:1:", "a path of one machine"),
    ("paths", {"README.md": "\n/opt/" + "swift-packages\n"}, "README.md:2:", "a path of one machine"),
    ("paths", {STORE: "// TO" + "DO: later\n"}, f"{STORE}:1:", "a note to oneself"),
    ("links", {"README.md": "a\n[b](gone/page.md)\n"}, "README.md:2:", "leads nowhere: there is no gone"),
    ("links", {"README.md": f"[b]({PAGE}#19)\n"}, "README.md:1:", "no heading makes the anchor 19"),
    ("links", {"README.md": "`Sources/Gone.swift`\n"}, "README.md:1:", "there is no Sources/Gone"),
    ("links", {STORE: "\n/// docs/gone.md says so.\nlet a = 1\n"}, f"{STORE}:2:", "there is no docs/gone"),
    ("links", {STORE: "/// research/gone.md\nlet a = 1\n"}, f"{STORE}:1:", "there is no research/gone"),
    ("links", {STORE: "/// (protocol/wire.md section\n/// 1.9)\nlet a = 1\n"}, f"{STORE}:1:", "has no section 1.9"),
    ("links", {STORE: "// protocol/wire.md 1.7\n"}, f"{STORE}:1:", "has no section 1.7"),
    ("links", {STORE: "// protocol/wire.md sections 1, 1.2 and 2.\n"}, f"{STORE}:1:", "has no section 2"),
    ("tested-rows", {THREATS: None}, f"{THREATS}:1:", "missing"),
    ("tested-rows", {THREATS: '| 1 | A | B | RuleTests "A rule breaks" |\n'}, f"{THREATS}:1:", 'no test "A rule breaks"'),
    ("tested-rows", {THREATS: '\n| 1 | A | B | GoneTests "A rule holds" |\n'}, f"{THREATS}:2:", "no suite GoneTests"),
    ("tested-rows", {THREATS: '| 1 | A | B | Other/RuleTests "A rule holds" |\n'}, f"{THREATS}:1:", "no suite RuleTests"),
    ("tested-rows", {THREATS: "| 1 | A | B | RuleTests |\n"}, f"{THREATS}:1:", "row 1: write"),
    ("tested-rows", {THREATS: '| 1 | A | B | RuleTests "A rule holds", and more |\n'}, f"{THREATS}:1:", "row 1: write"),
    ("tested-rows", {THREATS: "| 1 | A | B | none |\n"}, f"{THREATS}:1:", "row 1: write"),
    ("tested-rows", {THREATS: "| 1 | A | B | none: x |\n| 1 | A | B | none: y |\n"}, f"{THREATS}:2:", "two rows 1"),
    ("tested-rows", {COMPATIBILITY: None}, f"{COMPATIBILITY}:1:", "missing"),
    ("tested-rows", {VERIFIER: None}, f"{VERIFIER}:1:", "missing"),
    ("tested-rows", {OAUTH: None}, f"{OAUTH}:1:", "missing"),
    ("tested-rows", {COMPATIBILITY: '| S1 | A | RuleTests "A rule breaks" |\n'}, f"{COMPATIBILITY}:1:", 'row S1: RuleTests has no test'),
    ("vendor-tests", {VENDOR: HEAD + "| A.a | SignetCoreTests/gone | |\n"}, f"{VENDOR}:2:", "no test function SignetCoreTests/gone"),
    ("vendor-tests", {VENDOR: HEAD + "| A.a | GoneTests/holds | |\n"}, f"{VENDOR}:2:", "no test function GoneTests/holds"),
    ("vendor-tests", {VENDOR: HEAD + "| A.a | holds | |\n"}, f"{VENDOR}:2:", "holds is not `Target/function`"),
    ("vendor-tests", {VENDOR: HEAD + "| A.a | | differs because |\n"}, f"{VENDOR}:2:", "there is no test"),
    ("vendor-tests", {VENDOR: HEAD + "| A.a | missing |\n"}, f"{VENDOR}:2:", "write `| their test"),
    ("vendor-tests", {VENDOR: HEAD + "| A.a | | missing |\n| A.a | | missing |\n"}, f"{VENDOR}:3:", "A.a is in"),
    ("vendor-tests", {RULE_TESTS: "func holds() {}\n"}, f"{VENDOR}:6:", "no test function"),
    ("vendor-tests", {VENDOR: HEAD + "| A.a | | missing |\n"}, f"{COUNTS}:4:", "write `| all | 1 | 0 | 0 | 0 | 1 |`"),
    ("vendor-tests", {COUNTS: None}, f"{COUNTS}:1:", "write `| all | 4 | 1 | 1 | 1 | 1 |`"),
    ("promises", {PROMISES: None}, f"{PROMISES}:1:", "missing"),
    ("promises", {PROMISES: promises({20: "SignetCoreTests/gone | "})}, f"{PROMISES}:21:", "no test function SignetCoreTests/gone"),
    ("promises", {PROMISES: promises({20: " | a note"})}, f"{PROMISES}:21:", "is not `Target/function`"),
    ("promises", {PROMISES: promises({20: '`scripts/check-apple` "gone" | '})}, f"{PROMISES}:21:", 'there is no check "gone"'),
    ("promises", {PROMISES: promises({}).replace("`Hidden.size`", "`Hidden.gone(_:)`", 1)}, f"{PROMISES}:2:", "no declaration gone of Hidden.gone(_:) in Hidden"),
    ("promises", {PROMISES: promises({}).replace("`Hidden.size`", "`Other.size`", 1)}, f"{PROMISES}:2:", "no declaration Other of Other.size"),
    ("promises", {PROMISES: promises({}).replace("`Hidden.size`", "`Rule.size`", 1)}, f"{PROMISES}:2:", "no declaration size of Rule.size in Rule"),
    ("promises", {PROMISES: promises({}).replace("`Hidden.size`", "`Rule.terminal`", 1)}, f"{PROMISES}:2:", "no declaration terminal of Rule.terminal in Rule"),
    ("promises", {PROMISES: promises({}).replace("| 20 | 1 | a | `Hidden.size`", "| 20 | 1 | a | none")}, f"{PROMISES}:21:", "none names no symbol"),
    ("promises", {PROMISES: promises({20: " | differs because y"})}, f"{PROMISES}:144:", "7 promises differ"),
    ("promises", {PROMISES: promises({20: " | does not apply: y"})}, f"{PROMISES}:144:", "5 promises do not apply"),
    ("promises", {PROMISES: promises({}, count=142)}, f"{PROMISES}:143:", "there are 142 rows"),
    ("promises", {PROMISES: promises({}).replace("| 20 |", "| 21 |")}, f"{PROMISES}:21:", "row 21 follows row 19"),
    ("openid-rows", {OPENID: None}, f"{OPENID}:1:", "missing"),
    ("openid-rows", {OPENID: plans({"`SignetCoreTests/holds`": "`SignetCoreTests/gone`"})}, f"{OPENID}:6:", "no test function SignetCoreTests/gone"),
    ("openid-rows", {OPENID: plans({" | |\n": " | `SignetCoreTests/gone` too |\n"})}, f"{OPENID}:6:", "no test function SignetCoreTests/gone"),
    ("openid-rows", {OPENID: plans({"`SignetCoreTests/holds` is": "`GoneTests/holds` is"})}, f"{OPENID}:{plans().count(chr(10))}:", "no test function GoneTests/holds"),
    ("openid-rows", {OPENID: plans({"| passes": "| skipped"})}, f"{OPENID}:6:", "no reason"),
    ("openid-rows", {OPENID: plans({"| passes": "| fails"})}, f"{OPENID}:6:", "neither `passes` nor `skipped`"),
    ("openid-rows", {OPENID: plans({" | |\n": " |\n"})}, f"{OPENID}:6:", "write `| module"),
    ("openid-rows", {OPENID: plans({"| oidcc-response-type-missing ": "| oidcc-server "})}, f"{OPENID}:7:", "two rows oidcc-server"),
    ("openid-rows", {OPENID: plans({"| oidcc-response-type-missing ": "| oidcc-serve "})}, f"{OPENID}:7:", "oidcc-basic-certification-test-plan has no module oidcc-serve"),
    ("openid-rows", {OPENID: plans({"| oidcc-server |": "| server |"})}, f"{OPENID}:2:", "oidcc-basic-certification-test-plan has no row oidcc-server"),
    ("openid-rows", {OPENID: plans({"## Others": "## A: `oidcc-other-plan`"})}, f"{OPENID}:", "there is no plan oidcc-other-plan"),
    ("openid-rows", {OPENID: plans({"`oidcc-config-certification-test-plan`": ""})}, f"{OPENID}:1:", "oidcc-config-certification-test-plan has no row"),
    ("openid-rows", {OPENID: plans({"# Plans": "# Certified plans"})}, f"{OPENID}:1:", "nothing is certified"),
    ("swift-samples", {GUIDE: "# 1\n\n```swift\nlet rule: Rule? = nil\nlet a = 1\n```\n"}, f"{GUIDE}:3:", "no file in Snippets or Examples contains"),
    ("swift-samples", {GUIDE: "<!-- not-compiled: -->\n```swift\nlet a = 1\n```\n"}, f"{GUIDE}:2:", "no file in Snippets or Examples contains"),
    ("swift-samples", {GUIDE: "<!-- not-compiled: a part -->\n\n<!-- ci -->\n\n```swift\nlet a = 1\n```\n"}, f"{GUIDE}:5:", "or write <!-- not-compiled"),
    ("swift-samples", {GUIDE: "```swift\n\n```\n"}, f"{GUIDE}:1:", "no file in Snippets or Examples contains"),
    ("swift-samples", {"README.md": "```swift\nreturn rule\nlet hidden = 1\n```\n"}, "README.md:1:", "no file in Snippets or Examples contains"),
    ("swift-samples", {ARTICLE: "# A\n\n```swift\nlet a = 1\n```\n"}, f"{ARTICLE}:3:", "no file in Snippets or Examples contains"),
    ("swift-samples", {STEP: "import SignetCore\n\n}\nfunc makeCode() -> Rule? {\n"}, f"{STEP}:4:", "in this order: func makeCode() -> Rule? {"),
    ("swift-samples", {STEP: "import SignetCore\nlet rule: Rule? = nil\n"}, f"{STEP}:2:", "does not have this line"),
    ("swift-samples", {LAST_STEP: WHOLE.replace("    let hidden = 1\n", "")}, f"{LAST_STEP}:1:", "equals no file"),
    ("swift-samples", {LAST_STEP: WHOLE.replace("    return", "  return")}, f"{LAST_STEP}:1:", "equals no file"),
    ("swift-samples", {LAST_STEP: "// A rule,\n// or none.\n\n" + WHOLE}, f"{LAST_STEP}:1:", "equals no file"),
    ("swift-samples", {SNIPPET: "/// A rule.\n" + WHOLE}, f"{LAST_STEP}:1:", "equals no file"),
    ("swift-samples", {TUTORIAL: '@Code(name: "a", file: "step-1.swift")\n@Code(name: "b", file: "code.swift")\n'}, f"{STEP}:1:", "equals no file"),
    ("swift-samples", {TUTORIAL: '@Code(name: "a", file: "code.swift")\n@Code(name: "a", file: "step-1.swift")\n'}, f"{STEP}:1:", "equals no file"),
    ("swift-samples", {TUTORIAL: '@Code(name: "a", file: "code.swift")\n'}, f"{STEP}:1:", "no tutorial shows"),
    ("swift-samples", {TUTORIAL: '@Steps {\n    @Code(name: "a", file: "gone.swift")\n}\n'}, f"{TUTORIAL}:2:", "has no Swift file gone.swift"),
    ("command-blocks", {PAGE: "# 1\n\n```sh\ntrue\n```\n"}, f"{PAGE}:3:", "what runs it"),
    ("command-blocks", {PAGE: "<!-- ci -->\n\n```sh\ntrue\n```\n"}, f"{PAGE}:1:", "not in the line before"),
    ("command-blocks", {PAGE: "<!-- ci -->\n\n```sh\ntrue\n```\n"}, f"{PAGE}:3:", "what runs it"),
    ("command-blocks", {"README.md": "<!-- not-run -->\n```console\n$ a\n```\n"}, "README.md:2:", "say why"),
    ("command-blocks", {"CONTRIBUTING.md": "<!-- ci: fast -->\n```sh\na\n```\n"}, "CONTRIBUTING.md:2:", "only `not-run` has"),
    ("command-blocks", {"Examples/A/README.md": "<!-- ci -->\n```bash\na\n```\n"}, "Examples/A/README.md:2:", "not ```bash"),
    ("command-blocks", {PAGE: "<!-- nightly -->\n```console\nout\n```\n"}, f"{PAGE}:2:", "begins with `$ `"),
    ("allow-list", {ALLOW: f"size {STORE}\n"}, f"{ALLOW}:1:", "without a reason"),
    ("allow-list", {ALLOW: f"language {STORE} -- old\n"}, f"{ALLOW}:1:", "grants no exceptions"),
    ("allow-list", {ALLOW: "size Sources/Gone.swift -- it is long\n"}, f"{ALLOW}:1:", "there is no file"),
    ("size", {ALLOW: f"# short again\nsize {STORE} -- it was long\n"}, f"{ALLOW}:2:", "matches nothing any more"),
]  # fmt: skip


class Rules(unittest.TestCase):
    def judge(self, rule: str, changes: dict[str, str | None] = {}) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as root:
            for path, text in (GOOD | changes).items():
                if text is not None:
                    (Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
                    (Path(root) / path).write_text(text)
            done = subprocess.run([LINT / rule, root], capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

    def test_an_empty_list_of_old_terms_takes_no_new_one(self):
        with tempfile.TemporaryDirectory() as root:
            source, words = Path(root) / STORE, Path(root) / WORDS
            for file, text in ((source, "final class Desk {}\n"), (words, "")):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            subprocess.run([LINT / "words", "--shrink", root], check=True)
            self.assertEqual(words.read_text(), "")
            words.write_text(f"3 {STORE}\n")
            subprocess.run([LINT / "words", "--shrink", root], check=True)
            self.assertEqual(words.read_text(), f"1 {STORE}\n")

    def test_ordinary_english_is_no_old_term_and_no_riddle(self):
        code = '''\
            /// An attacker that knows a name. There is no file, and it is no longer valid.
            let names = ["nobody", "no one", "user=nobody dbname=a", "users/nobody", "who"]
            // A user who leaves, a mailbox of emails, in front of a proxy, a capital letter, the front end, the desktop, os.walk.
            let text = "no one-time code is left; there are no keys; PRAGMA journal_mode; made up of parts; HTTP verbs"
            @Test("A note tells the place, at the moment of the refusal, as usual; the original bytes are on standard output")
            func isLetter() {}
            /// ``StoreError/Code/cancelled`` when the task is canceled; CancellationError; the cancellation; `.cancelled`.
            let code = Code(rawValue: "cancelled"), message = "Authentication is cancelled", other = "say so -- or not"
        '''
        self.assertEqual(self.judge("words", {RULE_TESTS: code, "CHANGELOG.md": code}), (0, ""))

    def test_an_exception_to_words_excuses_one_text_of_one_file(self):
        allowed = {ALLOW: f'words {STORE}:"custodian" -- stored\n', WORDS: f"1 {ALLOW}\n"}
        stored = 'let key = "custodian"\n'
        self.assertEqual(self.judge("words", {STORE: stored} | allowed), (0, ""))
        status, said = self.judge("words", {STORE: stored + "// A custodian.\n", CORE: stored} | allowed)
        self.assertEqual((status, said.count("\n")), (1, 2), said)
        self.assertIn(f"{STORE}:2:", said)
        self.assertIn(f"{CORE}:1:", said)

    def test_a_good_tree_passes_every_rule(self):
        for rule in STRICT_RULES + RULES + ["all"]:
            with self.subTest(rule):
                status, said = self.judge(rule)
                self.assertEqual(status, 0, said)

    def test_a_fault_is_found_where_it_is(self):
        for rule, changes, place, message in FAULTS:
            with self.subTest(rule, message=message):
                status, said = self.judge(rule, changes)
                self.assertEqual(status, 1, said)
                lines = [line for line in said.splitlines() if place in line and message in line]
                self.assertEqual(len(lines), 1, said)

    def test_every_rule_has_a_fault_that_shows_it_can_fail(self):
        self.assertEqual({fault[0] for fault in FAULTS}, set(STRICT_RULES + RULES))

    def test_an_allow_list_entry_excuses_what_it_names_and_no_more(self):
        long, longer = function(61), function(62).replace("long", "longer")
        entry = {ALLOW: f"size {STORE}:long -- a table\n"}
        self.assertEqual(self.judge("size", {STORE: long} | entry), (0, ""))
        status, said = self.judge("size", {STORE: long + longer} | entry)
        self.assertEqual((status, said.count("\n")), (1, 1), said)
        self.assertIn("longer is 62 lines", said)

        entry = {ALLOW: f"forbidden {STORE}:Mutex<Runtime> -- the one holder\n"}
        holder = "enum A {\n    static let shared = Mutex<Runtime>(.idle)\n"
        self.assertEqual(self.judge("forbidden", {STORE: holder + "}\n"} | entry), (0, ""))
        self.assertEqual(self.judge("forbidden", {STORE: holder + "    static var b = 1\n}\n"} | entry)[0], 1)

    def test_all_reports_every_broken_rule(self):
        status, said = self.judge("all", {STORE: "import SignetCore\n\nlet id = UUID()\n" + "// line\n" * 400})
        self.assertEqual(status, 1)
        self.assertIn("BROKEN forbidden\nSources/", said)
        self.assertIn("BROKEN size\nSources/", said)
        self.assertIn("ok     imports\n", said)


class Masking(unittest.TestCase):
    def test_prose_goes_and_code_stays_in_place(self):
        cases = [
            ('a("x \\" y") // z', 'a("      ")     '),
            ("a /* b /* c */ d */ e", "a                   e"),
            ('"\\(a("b\\(c)"))d"', '" (a("  (c)")) "'),
            ('#"a\\(b)\\#(c)"# d', '#"       (c)"# d'),
            ('"""\n a " b\n """ c', '"""\n      \n """ c'),
            ("x = /a\"b/ + c", "x = /   / + c"),
            ("x = #/a/b\"/# + c", "x = #/    /# + c"),
            ("a / b / c", "a / b / c"),
            ("reduce(1, /)", "reduce(1, /)"),
            ('`a "b` c', '`a "b` c'),
            ('"open\nnext', '"    \nnext'),
        ]  # fmt: skip
        for source, expected in cases:
            with self.subTest(source):
                self.assertEqual(mask(source), expected)

    def test_prose_is_the_comments_and_the_literals_without_interpolated_code(self):
        source = 'a("b \\(c("d e")) f") // g\n/* h\n*/ #"i"#'
        self.assertEqual(
            prose(source),
            [
                (2, True, "·b \\····· ···· f·"), (9, True, "·d e·"), (21, False, "// g"), (26, False, "/* h\n*/"),
                (34, True, "··i··"),
            ],
        )


if __name__ == "__main__":
    unittest.main()
