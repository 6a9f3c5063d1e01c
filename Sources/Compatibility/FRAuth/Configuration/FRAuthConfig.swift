import Foundation
import SignetCore

/// The configuration file of a program: `FRAuthConfig.plist`, or `FRAuthConfig.json` with the same content.
enum FRAuthConfig {
    /// The folders to search: the app's bundle on Apple's systems; on other systems the program's folder, and then the working
    /// directory.
    static var folders: [String] {
        #if canImport(Darwin)
        return [Bundle.main.resourcePath].compactMap { $0 }
        #else
        let program = CommandLine.arguments.first ?? ""
        let beside = program.lastIndex(of: "/").map { String(program[..<$0]) }
        return [beside, FileManager.default.currentDirectoryPath].compactMap { $0 }
        #endif
    }

    /// The bundle identifier on Apple's systems; on other systems the file name of the program.
    static var applicationName: String {
        #if canImport(Darwin)
        if let name = Bundle.main.bundleIdentifier { return name }
        #endif
        return CommandLine.arguments.first?.split(separator: "/").last.map { String($0) } ?? "program"
    }

    /// Returns the settings of the first file that exists.
    /// - Throws: ``ConfigError/emptyConfiguration`` when no file exists; ``ConfigError/invalidConfiguration(_:)`` when the file
    ///   can't be used.
    static func load(_ name: String, from folders: [String]) throws(ConfigError) -> FRSettings {
        for folder in folders {
            for kind in ["plist", "json"] {
                let path = "\(folder)/\(name).\(kind)"
                guard FileManager.default.fileExists(atPath: path) else { continue }
                guard let bytes = FileManager.default.contents(atPath: path) else {
                    throw .invalidConfiguration("\(name).\(kind) is there and cannot be read")
                }
                return try FRSettings(document: document(in: bytes, isPlist: kind == "plist", name: "\(name).\(kind)"))
            }
        }
        throw .emptyConfiguration
    }

    private static func document(in bytes: Data, isPlist: Bool, name: String) throws(ConfigError) -> JSONValue {
        do {
            return isPlist ? try PropertyListDecoder().decode(JSONValue.self, from: bytes) : try JSON.value(of: bytes)
        } catch {
            throw .invalidConfiguration("\(name) is not \(isPlist ? "a property list" : "JSON")")
        }
    }
}
