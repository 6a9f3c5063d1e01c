import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file that a program is configured by: `FRAuthConfig.plist`, or the same as JSON, `FRAuthConfig.json`.
enum FRAuthConfig {
    static let usualName = "FRAuthConfig"

    /// On Apple's systems the app's bundle; elsewhere beside the program, and then in the folder it was started in.
    static var folders: [String] {
        #if canImport(Darwin)
        return [Bundle.main.resourcePath].compactMap { $0 }
        #else
        let program = CommandLine.arguments.first ?? ""
        let beside = program.lastIndex(of: "/").map { String(program[..<$0]) }
        return [beside, FileManager.default.currentDirectoryPath].compactMap { $0 }
        #endif
    }

    /// On Apple's systems the bundle's identifier; elsewhere the program's file name.
    static var applicationName: String {
        #if canImport(Darwin)
        if let name = Bundle.main.bundleIdentifier { return name }
        #endif
        return CommandLine.arguments.first?.split(separator: "/").last.map { String($0) } ?? "program"
    }

    /// The settings of the first file that there is.
    /// - Throws: ``ConfigError/emptyConfiguration`` when there is none; ``ConfigError/invalidConfiguration(_:)`` when the one that there
    ///   is cannot be used.
    static func load(_ name: String, from folders: [String]) throws(ConfigError) -> FROptions {
        for folder in folders {
            for kind in ["plist", "json"] {
                let path = "\(folder)/\(name).\(kind)"
                guard FileManager.default.fileExists(atPath: path) else { continue }
                guard let bytes = FileManager.default.contents(atPath: path) else {
                    throw .invalidConfiguration("\(name).\(kind) is there and cannot be read")
                }
                return try FROptions(document: document(in: bytes, isPlist: kind == "plist", name: "\(name).\(kind)"))
            }
        }
        throw .emptyConfiguration
    }

    private static func document(in bytes: Data, isPlist: Bool, name: String) throws(ConfigError) -> JSONValue {
        do {
            return isPlist ? try PropertyListDecoder().decode(JSONValue.self, from: bytes) : try JSON.value(of: bytes)
        } catch {
            throw .invalidConfiguration("\(name) is no \(isPlist ? "property list" : "JSON")")
        }
    }
}
