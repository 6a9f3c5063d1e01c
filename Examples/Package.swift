// swift-tools-version: 6.2
import PackageDescription

// The apps as a package of their own, as a user of the SDK has one: it depends on Signet, names no trait, and sees public
// declarations only. An app outside of this repository names the address and a version instead of the path.
//
// ForgeRockApp and PingApp use what the modules of the other SDKs declare as public, and name the products of these SDKs.
// SignetSamples has calls that only Signet compiles.

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

let package = Package(
    name: "signet-examples",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "signet", path: "..")],
    targets: [
        app("ForgeRockApp", forgeRock, .v5), app("ForgeRockApp6", forgeRock, .v6),
        app("PingApp", ping, .v5), app("PingApp6", ping, .v6),
        app("SignetSamples", signet, .v5), app("SignetSamples6", signet, .v6),
    ])
