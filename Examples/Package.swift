// swift-tools-version: 6.2
import PackageDescription

// The apps as a package of their own, as a user of the SDK has one: it depends on Signet, names no trait, and sees public
// declarations only. An app outside of this repository names the address and a version instead of the path.
//
// ForgeRockApp and PingApp use what the modules of the other SDKs declare as public, and name the products of these SDKs.
// SignetSamples has calls that only Signet compiles.
//
// TokenService, ResourceServer, ApproverDaemon and TerminalLogin are programs for Linux over Signet's own modules (README.md).

let forgeRock = ["FRAuth", "FRAuthenticator", "FRCore"]
let ping = ["PingJourney", "PingLogger", "PingOath", "PingOidc", "PingOrchestrate", "PingPush", "PingStorage"]
let signet = ["FRAuth", "FRAuthenticator", "FRCore", "PingLogger", "PingOath", "SignetNetwork", "Storage"]

/// Returns an app in one of the two language modes.
///
/// The folder with `6` in its name is a symbolic link to the other one.
func app(_ name: String, _ modules: [String], _ mode: SwiftLanguageMode) -> Target {
    .executableTarget(
        name: name, dependencies: modules.map { .product(name: $0, package: "signet") }, path: name,
        swiftSettings: [.swiftLanguageMode(mode)])
}

/// Returns a program over Signet's own modules, in the Swift 6 language mode.
///
/// Its folder may contain files for the operator beside the sources, which `files` names.
func program(_ name: String, _ modules: [String], _ others: [Target.Dependency], files: [String] = []) -> Target {
    let products = modules.map { Target.Dependency.product(name: $0, package: "signet") }
    return .executableTarget(
        name: name, dependencies: products + others, path: name, exclude: files, swiftSettings: [.swiftLanguageMode(.v6)])
}

let package = Package(
    name: "signet-examples",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        .package(name: "signet", path: ".."),
        // The same requirements as in Signet's own Package.swift.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.26.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.11.0"),
    ],
    targets: [
        app("ForgeRockApp", forgeRock, .v5), app("ForgeRockApp6", forgeRock, .v6),
        app("PingApp", ping, .v5), app("PingApp6", ping, .v6),
        app("SignetSamples", signet, .v5), app("SignetSamples6", signet, .v6),
        program(
            "TokenService", ["SignetCore", "SignetNetwork", "SignetOAuth"],
            [.product(name: "Hummingbird", package: "hummingbird")]),
        program(
            "ResourceServer", ["SignetCore", "SignetNetwork", "SignetOAuth", "SignetVerifier"],
            [.product(name: "Hummingbird", package: "hummingbird")]),
        program(
            "ApproverDaemon", ["SignetAuthenticator", "SignetCore", "SignetNetwork", "SignetStorage"],
            [.product(name: "UnixSignals", package: "swift-service-lifecycle")], files: ["approver.service", "policy.json"]),
        program("TerminalLogin", ["SignetCore", "SignetJourney", "SignetOAuth"], []),
    ])
