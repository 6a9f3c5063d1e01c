// swift-tools-version: 6.2
import PackageDescription

/// The language rules every target of this package is built with.
///
/// CONTRIBUTING.md lists the rules.
let rules: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let httpClient = Target.Dependency.product(
    name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTPClient"]))
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let certificates = Target.Dependency.product(name: "X509", package: "swift-certificates")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let metricsTestKit = Target.Dependency.product(name: "MetricsTestKit", package: "swift-metrics")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let inMemoryTracing = Target.Dependency.product(name: "InMemoryTracing", package: "swift-distributed-tracing")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")

let package = Package(
    name: "signet",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "SignetCore", targets: ["SignetCore"]),
        .library(name: "SignetStorage", targets: ["SignetStorage"]),
        .library(name: "SignetNetwork", targets: ["SignetNetwork"]),
        .library(name: "SignetAuthenticator", targets: ["SignetAuthenticator"]),
        .library(name: "SignetTransfer", targets: ["SignetTransfer"]),
        .library(name: "SignetOAuth", targets: ["SignetOAuth"]),
        .library(name: "SignetVerifier", targets: ["SignetVerifier"]),
        .library(name: "SignetJourney", targets: ["SignetJourney"]),
        .library(name: "SignetYAML", targets: ["SignetYAML"]),
        .library(name: "SignetTesting", targets: ["SignetTesting"]),
        .library(name: "SignetPushGateway", targets: ["SignetPushGateway"]),
        .library(name: "SignetServer", targets: ["SignetServer"]),
        .library(name: "Storage", targets: ["Storage"]),
        .library(name: "PingStorage", targets: ["PingStorage"]),
        .library(name: "PingLogger", targets: ["PingLogger"]),
        .library(name: "PingCommons", targets: ["PingCommons"]),
        .library(name: "PingOrchestrate", targets: ["PingOrchestrate"]),
        .library(name: "PingOidc", targets: ["PingOidc"]),
        .library(name: "PingJourneyPlugin", targets: ["PingJourneyPlugin"]),
        .library(name: "PingJourney", targets: ["PingJourney"]),
        .library(name: "PingDeviceClient", targets: ["PingDeviceClient"]),
        .library(name: "PingOath", targets: ["PingOath"]),
        .library(name: "PingPush", targets: ["PingPush"]),
        .library(name: "FRCore", targets: ["FRCore"]),
        .library(name: "FRAuth", targets: ["FRAuth"]),
        .library(name: "FRAuthenticator", targets: ["FRAuthenticator"]),
        .executable(name: "signet", targets: ["signet"]),
    ],
    traits: [
        .default(enabledTraits: ["AsyncHTTPClient"]),
        // An app for Apple's systems, where the transport is URLSession, and an app with a transport of its own need no HTTP client.
        // SignetServer and `signet` need this one.
        .trait(name: "AsyncHTTPClient", description: "AsyncHTTPTransport, the HTTP transport for Linux and servers."),
        // Needs the header of libpq to build, and loads the library itself only when it is used.
        .trait(name: "PostgreSQL", description: "Records in PostgreSQL (libpq-dev)."),
        // Change nothing; a package that names one still resolves. Their libraries are loaded where they are installed.
        .trait(name: "TPM", description: "Changes nothing: keys in a TPM 2.0 are in every build."),
        .trait(name: "SecretService", description: "Changes nothing: keys in the desktop's keyring are in every build."),
    ],
    // Each minimum is the lowest version that Signet was built and tested with, so that an app with older pins can resolve it.
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        // GRDB 7.8.0 refers to the sqlite3_snapshot_* functions, which Debian's and Ubuntu's SQLite is built without: it compiles there and does not
        // link. Later versions do not refer to them on Linux; an app that pins 7.8.0 on Linux needs an SQLite built with SQLITE_ENABLE_SNAPSHOT.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.8.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.33.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.26.0", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.3"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.11.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.3.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.1"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.19.3"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        // Those of Hummingbird's that are named here because the server uses them itself.
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.3"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.10.1"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.4.1"),
        // Only for `make docs`.
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.3"),
    ],
    targets: [
        // Values and rules.
        .target(name: "SignetCore", dependencies: [crypto], swiftSettings: rules),

        // Records and items at rest, and HTTP.
        .target(
            name: "SignetStorage",
            dependencies: [
                "SignetCore", crypto, cryptoExtras, grdb, sqlite, logging,
                .target(name: "CTSS2", condition: .when(platforms: [.linux])),
                .target(name: "CSecretService", condition: .when(platforms: [.linux])),
                .target(name: "CPostgreSQL", condition: .when(platforms: [.linux], traits: ["PostgreSQL"])),
            ], swiftSettings: rules),
        // Functions that are looked up in a library at run time. Only CPostgreSQL needs the headers of its library.
        .target(name: "CTSS2"),
        .target(name: "CSecretService"),
        .target(name: "CGDBus"),
        .target(name: "CFIDO2"),
        .target(name: "CPostgreSQL"),
        .target(
            name: "SignetNetwork",
            dependencies: ["SignetCore", httpClient, crypto, nioCore, nioHTTP1, nioPosix, nioSSL, asn1], swiftSettings: rules),

        // The libraries that an app imports, above storage and network.
        .target(
            name: "SignetAuthenticator",
            dependencies: ["SignetCore", "SignetStorage", "SignetNetwork", crypto, cryptoExtras, asn1], swiftSettings: rules),
        .target(
            name: "SignetTransfer",
            dependencies: ["SignetCore", "SignetStorage", "SignetAuthenticator", crypto, cryptoExtras], swiftSettings: rules),
        .target(
            name: "SignetOAuth", dependencies: ["SignetCore", "SignetNetwork", "SignetStorage", crypto, jwtKit],
            swiftSettings: rules),
        // The verification of access tokens in a service. A target of its own, so that an app needs no HTTP server.
        .target(
            name: "SignetVerifier",
            dependencies: ["SignetCore", "SignetNetwork", "SignetOAuth", crypto, hummingbird, httpTypes, logging, nioCore],
            swiftSettings: rules),
        .target(
            name: "SignetJourney",
            dependencies: [
                "SignetCore", "SignetNetwork", "SignetStorage", "SignetOAuth", crypto,
                .target(name: "CFIDO2", condition: .when(platforms: [.linux])),
            ], swiftSettings: rules),
        // Profiles from YAML. A target of its own, so that an app without such profiles builds no reader of YAML.
        .target(name: "SignetYAML", dependencies: ["SignetCore", "SignetOAuth", "YAMLText"], swiftSettings: rules),
        .target(name: "YAMLText", dependencies: ["SignetCore", yams], swiftSettings: rules),

        // The module names of other SDKs.
        .target(name: "Storage", dependencies: ["PingStorage"], path: "Sources/Compatibility/Storage", swiftSettings: rules),
        .target(
            name: "PingStorage", dependencies: ["SignetStorage"], path: "Sources/Compatibility/PingStorage", swiftSettings: rules),
        .target(
            name: "PingLogger", dependencies: ["SignetCore", logging], path: "Sources/Compatibility/PingLogger",
            swiftSettings: rules),
        .target(
            name: "PingCommons", dependencies: ["PingLogger", "SignetAuthenticator", "SignetCore", "SignetNetwork"],
            path: "Sources/Compatibility/PingCommons", swiftSettings: rules),
        .target(
            name: "PingOrchestrate", dependencies: ["PingCommons", "PingLogger", "SignetCore", "SignetNetwork", "SignetStorage"],
            path: "Sources/Compatibility/PingOrchestrate", swiftSettings: rules),
        .target(
            name: "PingOidc", dependencies: ["PingOrchestrate", "SignetCore", "SignetNetwork", "SignetOAuth", "SignetStorage"],
            path: "Sources/Compatibility/PingOidc", swiftSettings: rules),
        .target(
            name: "PingJourneyPlugin", dependencies: ["PingOrchestrate", "SignetCore", "SignetJourney"],
            path: "Sources/Compatibility/PingJourneyPlugin", swiftSettings: rules),
        .target(
            name: "PingJourney",
            dependencies: [
                "PingJourneyPlugin", "PingOidc", "PingOrchestrate", "SignetCore", "SignetJourney", "SignetNetwork", "SignetOAuth",
                "SignetStorage",
            ], path: "Sources/Compatibility/PingJourney", swiftSettings: rules),
        .target(
            name: "PingDeviceClient",
            dependencies: ["PingCommons", "PingLogger", "SignetCore", "SignetJourney", "SignetNetwork", "SignetOAuth"],
            path: "Sources/Compatibility/PingDeviceClient", swiftSettings: rules),
        .target(
            name: "PingOath",
            dependencies: [
                "PingCommons", "PingLogger", "SignetCore", "SignetStorage", "SignetNetwork", "SignetAuthenticator",
                "SignetTransfer",
            ],
            path: "Sources/Compatibility/PingOath", swiftSettings: rules),
        .target(
            name: "PingPush",
            dependencies: [
                "PingCommons", "PingLogger", "SignetCore", "SignetStorage", "SignetNetwork", "SignetAuthenticator",
                "SignetTransfer",
            ],
            path: "Sources/Compatibility/PingPush", swiftSettings: rules),
        .target(
            name: "FRCore",
            dependencies: ["SignetCore", "SignetStorage", "SignetNetwork", "SignetAuthenticator", crypto, logging],
            path: "Sources/Compatibility/FRCore", swiftSettings: rules),
        .target(
            name: "FRAuthenticator",
            dependencies: [
                "FRCore", "SignetCore", "SignetStorage", "SignetNetwork", "SignetAuthenticator", "SignetTransfer", logging,
            ],
            path: "Sources/Compatibility/FRAuthenticator", swiftSettings: rules),
        .target(
            name: "FRAuth",
            dependencies: ["FRCore", "SignetCore", "SignetStorage", "SignetNetwork", "SignetJourney", "SignetOAuth"],
            path: "Sources/Compatibility/FRAuth", swiftSettings: rules),

        .target(name: "SignetTesting", dependencies: ["SignetCore", "SignetNetwork", "SignetStorage"], swiftSettings: rules),

        // The message bus of a Linux desktop: notifications, the end of a session, the user's presence.
        .target(
            name: "SignetDesktop",
            dependencies: [
                "SignetCore", "SignetStorage", "SignetAuthenticator",
                .target(name: "CGDBus", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: rules),

        // The development server, the push gateway in it, and the command line.
        .target(name: "SignetPushGateway", dependencies: ["SignetCore", crypto], swiftSettings: rules),
        .target(
            name: "SignetServer",
            dependencies: [
                "SignetCore", "SignetNetwork", "SignetPushGateway", "SignetStorage", "YAMLText", crypto, cryptoExtras, grdb,
                hummingbird, hummingbirdCore, httpTypes, nioCore, nioHTTP1, nioHTTPTypes, nioPosix, nioSSL, certificates,
                asn1, logging, lifecycle, unixSignals, metrics, tracing,
            ],
            resources: [
                .embedInCode("Web/Assets/app.css"), .embedInCode("Web/Assets/app.js"),
                .embedInCode("Web/Assets/app.svg"),
                .embedInCode("Web/Assets/console.css"), .embedInCode("Web/Assets/console.js"),
                .embedInCode("Web/Assets/console-parts.js"), .embedInCode("Web/Assets/console-activity.js"),
                .embedInCode("Web/Assets/console-state.js"),
            ],
            swiftSettings: rules),
        // The messages between commands and `signet agent`, for a program that starts fast: it has no dependency.
        .target(name: "AgentWire", swiftSettings: rules),
        // The program that a package installs as `signet`: it asks the agent, or runs the full program in its place.
        .executableTarget(name: "signet-front", dependencies: ["AgentWire"], swiftSettings: rules),
        // No pkgConfig: it would link the libraries, which are loaded at run time, only by the commands that need them.
        .systemLibrary(name: "CPNG", providers: [.apt(["libpng-dev"])]),
        .executableTarget(
            name: "signet",
            dependencies: [
                "SignetCore", "SignetStorage", "SignetNetwork", "SignetAuthenticator", "SignetTransfer", "SignetOAuth",
                "SignetJourney", "SignetYAML",
                "SignetServer", "SignetDesktop", "AgentWire", "CPNG", arguments, logging, nioCore, nioPosix,
            ],
            swiftSettings: rules),
        .executableTarget(
            name: "signet-bench",
            dependencies: [
                "SignetCore", "SignetAuthenticator", "SignetJourney", "SignetOAuth", "SignetNetwork", "SignetServer",
                "SignetStorage", "SignetDesktop", "SignetTesting", "SignetVerifier", "AgentWire", "TestSupport",
                .target(name: "CTSS2", condition: .when(platforms: [.linux])),
                crypto, cryptoExtras, grdb, hummingbird, httpTypes, jwtKit, httpClient, logging, nioCore, nioHTTP1,
            ],
            path: "Benchmarks", swiftSettings: rules),

        // Apps over the modules of other SDKs, in their own settings and in both language modes. The second folder of each is a symbolic link
        // to the first. ForgeRockApp and PingApp use what these SDKs declare as public; SignetSamples has calls that only Signet compiles.
        .executableTarget(
            name: "ForgeRockApp", dependencies: ["FRAuth", "FRAuthenticator", "FRCore"], path: "Examples/ForgeRockApp",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(
            name: "ForgeRockApp6", dependencies: ["FRAuth", "FRAuthenticator", "FRCore"], path: "Examples/ForgeRockApp6",
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "PingApp",
            dependencies: ["PingJourney", "PingLogger", "PingOath", "PingOidc", "PingOrchestrate", "PingPush", "PingStorage"],
            path: "Examples/PingApp", swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(
            name: "PingApp6",
            dependencies: ["PingJourney", "PingLogger", "PingOath", "PingOidc", "PingOrchestrate", "PingPush", "PingStorage"],
            path: "Examples/PingApp6", swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "SignetSamples",
            dependencies: ["FRAuth", "FRAuthenticator", "FRCore", "PingLogger", "PingOath", "SignetNetwork", "Storage"],
            path: "Examples/SignetSamples", swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(
            name: "SignetSamples6",
            dependencies: ["FRAuth", "FRAuthenticator", "FRCore", "PingLogger", "PingOath", "SignetNetwork", "Storage"],
            path: "Examples/SignetSamples6", swiftSettings: [.swiftLanguageMode(.v6)]),

        // Runs the readers of untrusted input under libFuzzer (`make fuzz`).
        .executableTarget(
            name: "signet-fuzz",
            dependencies: ["SignetTransfer", "SignetCore", "SignetPushGateway", "SignetServer", hummingbird, httpTypes],
            path: "Fuzz", exclude: ["Corpus"], swiftSettings: rules),

        // The tests of a library NAME are in the target NAMETests (`make lint`). Exceptions: the tests of the program `signet` are in
        // SignetCLITests, because a Swift module's name begins with a capital letter and a command's name does not. The C targets
        // only declare functions of libraries; the tests of the Swift target that calls them cover them.

        // Fixtures that several test targets share, and the external programs that tests start.
        .target(
            name: "TestSupport",
            dependencies: [
                "PingLogger", "PingOath", "PingPush", "SignetAuthenticator", "SignetCore", "SignetDesktop", "SignetJourney",
                "SignetNetwork", "SignetOAuth", "SignetServer", "SignetStorage", "SignetTesting", asn1, certificates, crypto,
                cryptoExtras, hummingbirdTesting, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ],
            path: "Tests/TestSupport", swiftSettings: rules),
        .testTarget(
            name: "SignetCoreTests", dependencies: ["SignetCore", "SignetTesting", crypto, jwtKit], resources: [.copy("Vectors")],
            swiftSettings: rules),
        .testTarget(name: "AgentWireTests", dependencies: ["AgentWire"], swiftSettings: rules),
        // The process that the storage and authenticator tests kill.
        .executableTarget(
            name: "StoreWorker", dependencies: ["SignetStorage", "SignetAuthenticator", "SignetCore"], path: "Tests/StoreWorker",
            swiftSettings: rules),
        // The process that the tests of the first use start on a machine without a vault.
        .executableTarget(
            name: "FirstUseWorker",
            dependencies: ["FRAuthenticator", "PingOath", "PingPush", "SignetCore", "SignetStorage"],
            path: "Tests/FirstUseWorker",
            swiftSettings: rules),
        .testTarget(
            name: "SignetStorageTests",
            dependencies: [
                "FirstUseWorker", "SignetStorage", "SignetCore", "SignetTesting", "StoreWorker", "SecretServiceProbe",
                "TestSupport", crypto, grdb,
            ],
            exclude: ["Fixtures"], resources: [.copy("Vectors")], swiftSettings: rules),
        // The samples of the vendors' documentation that use the ForgeRock modules, and the apps of Examples, each sample in a
        // process of its own. The samples that use the Ping modules are with the tests of these modules, too.
        .testTarget(
            name: "SeedSamples",
            dependencies: [
                "Storage", "FRAuthenticator", "FRAuth", "FRCore", "SignetCore", "SignetJourney", "SignetOAuth", "SignetNetwork",
                "SignetServer", "SignetStorage", "SignetTesting", "TestSupport", "ForgeRockApp", "ForgeRockApp6", "PingApp",
                "PingApp6", "SignetSamples", "SignetSamples6", logging,
            ],
            swiftSettings: rules),
        .testTarget(
            name: "StorageTests", dependencies: ["Storage", "SignetStorage", "SignetTesting", "TestSupport"], swiftSettings: rules
        ),
        .testTarget(name: "PingStorageTests", dependencies: ["PingStorage"], swiftSettings: rules),
        .testTarget(name: "PingLoggerTests", dependencies: ["PingLogger", "SignetCore", logging], swiftSettings: rules),
        .testTarget(
            name: "PingCommonsTests", dependencies: ["PingCommons"], swiftSettings: rules),
        .testTarget(
            name: "PingOrchestrateTests", dependencies: ["PingOrchestrate", "SignetCore"], swiftSettings: rules),
        .testTarget(
            name: "PingOidcTests", dependencies: ["PingOidc", "SignetCore", "SignetOAuth", "SignetStorage", "SignetTesting"],
            swiftSettings: rules),
        .testTarget(name: "PingJourneyPluginTests", dependencies: ["PingJourneyPlugin"], swiftSettings: rules),
        .testTarget(
            name: "PingJourneyTests",
            dependencies: [
                "PingJourney", "SignetCore", "SignetNetwork", "SignetServer", "SignetStorage", "SignetTesting", "TestSupport",
            ],
            swiftSettings: rules),
        .testTarget(
            name: "PingDeviceClientTests",
            dependencies: ["PingDeviceClient", "SignetCore", "SignetNetwork", "SignetServer", "SignetTesting", "TestSupport"],
            swiftSettings: rules),
        .testTarget(
            name: "PingOathTests",
            dependencies: [
                "PingOath", "PingPush", "SignetAuthenticator", "SignetCore", "SignetStorage", "SignetTesting", "Storage",
                "TestSupport",
            ], swiftSettings: rules),
        .testTarget(
            name: "PingPushTests",
            dependencies: [
                "PingOrchestrate", "PingPush", "SignetAuthenticator", "SignetCore", "SignetNetwork", "SignetStorage",
                "SignetTesting", "TestSupport",
            ], swiftSettings: rules),
        .testTarget(
            name: "FRAuthenticatorTests",
            dependencies: [
                "FRAuthenticator", "FRCore", "SignetAuthenticator", "SignetCore", "SignetNetwork", "SignetStorage",
                "SignetServer", "SignetTesting", "TestSupport", grdb, logging,
            ], swiftSettings: rules),
        // The keyring is found by a process's environment, so its tests run as processes.
        .executableTarget(
            name: "SecretServiceProbe", dependencies: ["SignetCore", "SignetStorage"], path: "Tests/SecretServiceProbe",
            swiftSettings: rules),
        .testTarget(
            name: "SignetAuthenticatorTests",
            dependencies: [
                "SignetAuthenticator", "SignetCore", "SignetStorage", "SignetNetwork", "SignetPushGateway", "SignetTesting",
                "SignetServer", "SignetJourney", "SignetTransfer", "StoreWorker", "TestSupport",
                "FRAuthenticator", "FRAuth", "PingOath", "PingPush", cryptoExtras, logging,
            ], exclude: ["Fixtures"], swiftSettings: rules),
        .testTarget(
            name: "SignetTransferTests",
            dependencies: [
                "SignetTransfer", "SignetAuthenticator", "SignetCore", "SignetStorage", "SignetTesting", "TestSupport",
            ], exclude: ["Fixtures"], swiftSettings: rules),
        // The process that the token tests start four times at once, and kill.
        .executableTarget(
            name: "TokenWorker", dependencies: ["SignetCore", "SignetOAuth", "SignetNetwork", "SignetStorage"],
            path: "Tests/TokenWorker", swiftSettings: rules),
        .testTarget(
            name: "SignetOAuthTests",
            dependencies: [
                "SignetJourney", "SignetOAuth", "SignetCore", "SignetNetwork", "SignetServer", "SignetStorage", "SignetTesting",
                "TestSupport", "TokenWorker", crypto, nioCore, nioPosix,
            ], swiftSettings: rules),
        .testTarget(
            name: "SignetVerifierTests",
            dependencies: [
                "SignetVerifier", "SignetCore", "SignetJourney", "SignetNetwork", "SignetOAuth", "SignetServer", "SignetTesting",
                "TestSupport", crypto, hummingbird, hummingbirdTesting, httpTypes, nioCore,
            ],
            swiftSettings: rules),
        .testTarget(
            name: "SignetNetworkTests", dependencies: ["SignetNetwork", "SignetCore", "SignetTesting", "TestSupport", asn1],
            swiftSettings: rules),
        .testTarget(
            name: "SignetJourneyTests",
            dependencies: [
                "SignetJourney", "SignetOAuth", "SignetCore", "SignetNetwork", "SignetServer", "SignetStorage",
                "SignetTesting", "TestSupport", crypto, cryptoExtras,
            ], resources: [.copy("Vectors")], swiftSettings: rules),
        .testTarget(name: "YAMLTextTests", dependencies: ["YAMLText", "SignetCore"], swiftSettings: rules),
        .testTarget(name: "SignetYAMLTests", dependencies: ["SignetYAML", "SignetOAuth", "SignetCore"], swiftSettings: rules),
        .testTarget(
            name: "FRCoreTests",
            dependencies: ["FRCore", "SignetCore", "SignetNetwork", "SignetStorage", "SignetTesting"], swiftSettings: rules),
        .testTarget(
            name: "FRAuthTests",
            dependencies: [
                "FRAuth", "FRCore", "SignetJourney", "SignetOAuth", "SignetCore", "SignetNetwork", "SignetServer",
                "SignetStorage",
                "SignetTesting", "TestSupport",
            ],
            swiftSettings: rules),
        .testTarget(
            name: "SignetCLITests",
            dependencies: [
                "signet", "AgentWire", "SignetCore", "SignetDesktop", "SignetJourney", "SignetOAuth", "SignetNetwork",
                "SignetServer", "SignetStorage", "SignetTesting", "TestSupport", crypto, logging, nioCore,
            ],
            swiftSettings: rules),
        .testTarget(
            name: "SignetDesktopTests",
            dependencies: ["SignetDesktop", "SignetAuthenticator", "SignetCore", "SignetTesting", "TestSupport"],
            swiftSettings: rules),
        .testTarget(
            name: "SignetTestingTests", dependencies: ["SignetTesting", "SignetCore", "SignetNetwork", "SignetStorage"],
            swiftSettings: rules),
        .testTarget(
            name: "TestSupportTests", dependencies: ["SignetCore", "SignetTesting", "TestSupport"], swiftSettings: rules),
        // The server's pages in Chromium.
        .testTarget(
            name: "SignetPagesTests",
            dependencies: [
                "SignetServer", "SignetAuthenticator", "SignetCore", "SignetNetwork", "SignetStorage", "SignetTesting",
                "TestSupport", "signet",
            ],
            swiftSettings: rules),
        .testTarget(
            name: "SignetPushGatewayTests", dependencies: ["SignetPushGateway", "SignetCore"], swiftSettings: rules),
        .testTarget(
            name: "SignetServerTests",
            dependencies: [
                "SignetServer", "SignetCore", "SignetNetwork", "SignetPushGateway", "SignetStorage", "SignetTesting",
                "TestSupport", "YAMLText", "signet", crypto, cryptoExtras, jwtKit, hummingbird, hummingbirdTesting, httpTypes,
                nioCore, nioEmbedded, logging, asn1, certificates, metricsTestKit, tracing, inMemoryTracing,
            ], exclude: ["Fixtures"], swiftSettings: rules),
        // Attacks on the built program from outside: its server, its vault, and itself at malicious servers (`make attack`).
        .testTarget(
            name: "Attacks",
            dependencies: [
                "signet", "SignetCore", "SignetNetwork", "SignetPushGateway", "SignetServer", "SignetTesting", "TestSupport",
                crypto,
            ],
            swiftSettings: rules),
    ]
)

// An app for iOS includes the privacy manifest of each target that it links. On other systems, a resource would only add code.
let appTargets: Set = [
    "SignetCore", "SignetStorage", "SignetNetwork", "SignetAuthenticator", "SignetTransfer", "SignetOAuth", "SignetJourney",
    "SignetYAML", "YAMLText", "Storage", "PingStorage", "PingLogger", "PingCommons", "PingOrchestrate", "PingOidc",
    "PingJourneyPlugin", "PingJourney", "PingDeviceClient", "PingOath", "PingPush", "FRCore", "FRAuthenticator", "FRAuth",
]
for target in package.targets where appTargets.contains(target.name) {
    #if os(macOS)
    target.resources = [.copy("PrivacyInfo.xcprivacy")]
    #else
    target.exclude.append("PrivacyInfo.xcprivacy")
    #endif
}
