import Crypto
import Foundation
import SignetCore

/// Collects a description of this machine, as far as an unprivileged program can read it on Linux.
///
/// The description has the sections of the ForgeRock SDKs, and omits values that can't be determined. On other systems, the files
/// contain little information, and the app adds its own.
public struct DeviceProfileCollector: Sendable {
    private let identifier: String
    private let environment: [String: String]
    private let file: @Sendable (String) -> String?
    /// Returns the names in a directory; nil when it can't be read.
    private let folder: @Sendable (String) -> [String]?

    /// Creates a collector.
    /// - Parameter identifier: The ID of the device, which must stay the same over time. ``identifier(for:)`` creates one.
    public init(identifier: String) {
        self.init(
            identifier: identifier, environment: ProcessInfo.processInfo.environment,
            file: { try? String(contentsOfFile: $0, encoding: .utf8) },
            folder: { try? FileManager.default.contentsOfDirectory(atPath: $0) })
    }

    package init(
        identifier: String, environment: [String: String], file: @escaping @Sendable (String) -> String?,
        folder: @escaping @Sendable (String) -> [String]?
    ) {
        self.identifier = identifier
        self.environment = environment
        self.file = file
        self.folder = folder
    }

    /// Returns an ID of this machine for one app: a hash of the machine ID and the app's name.
    ///
    /// Two apps, or two servers that exchange data, therefore can't recognize the same machine (machine-id(5)). The ID stays the
    /// same until the system is reinstalled.
    /// - Parameter application: The name of the app, for example `org.example.app`.
    /// - Returns: 64 hexadecimal digits; nil when the system has no machine ID.
    public static func identifier(for application: String) -> String? {
        identifier(for: application, machineID: (try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8)) ?? "")
    }

    static func identifier(for application: String, machineID: String) -> String? {
        let machineID = machineID.trimmingWhitespace()
        guard machineID.utf8.count == 32 else { return nil }
        let mac = HMAC<SHA256>.authenticationCode(for: Array(application.utf8), using: SymmetricKey(data: Array(machineID.utf8)))
        return Hexadecimal.text(of: mac).lowercased()
    }

    /// Collects the profile of this machine.
    public func collect() -> DeviceProfile {
        let sections = [
            "platform": platform, "hardware": hardware, "network": ["connected": isConnected.map { .bool($0) }],
            "bluetooth": ["supported": devices("bluetooth").map { .bool($0 > 0) }],
        ]
        let known = sections.mapValues { $0.compactMapValues { $0 } }.filter { !$0.value.isEmpty }
        return DeviceProfile(identifier: identifier, metadata: known.mapValues { .object($0) })
    }

    private var platform: [String: JSONValue?] {
        let release = pairs("/etc/os-release")
        return [
            "platform": line("/proc/sys/kernel/ostype"), "version": release["VERSION_ID"].map { .string($0) },
            "device": line("/sys/class/dmi/id/product_name"), "deviceName": line("/proc/sys/kernel/hostname"),
            "model": line("/sys/class/dmi/id/product_version"), "brand": release["PRETTY_NAME"].map { .string($0) },
            "locale": ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
                .map { .string(String($0.prefix { $0 != "." })) },
            "timeZone": (environment["TZ"].flatMap { $0.isEmpty ? nil : .string($0) }) ?? line("/etc/timezone"),
        ]
    }

    private var hardware: [String: JSONValue?] {
        let processors = (file("/proc/cpuinfo") ?? "").split(separator: "\n").filter { $0.hasPrefix("processor") }.count
        let memory = (file("/proc/meminfo") ?? "").split(separator: "\n").first { $0.hasPrefix("MemTotal:") }
            .flatMap { Int64($0.dropFirst("MemTotal:".count).filter(\.isNumber)) }
        return [
            "cpu": processors > 0 ? .integer(Int64(processors)) : nil, "manufacturer": line("/sys/class/dmi/id/sys_vendor"),
            "memory": memory.map { .integer($0 / 1024) },
            "camera": devices("video4linux").map { .object(["numberOfCameras": .integer(Int64($0))]) },
        ]
    }

    /// Returns the number of devices of a class that the kernel exposes.
    ///
    /// The number is 0 when the kernel has no directory for the class, and nil when the directories can't be read.
    private func devices(_ kind: String) -> Int? {
        if let devices = folder("/sys/class/\(kind)") { return devices.count }
        return folder("/sys/class").flatMap { $0.contains(kind) ? nil : 0 }
    }

    /// True when a network interface other than loopback is up, false when all of them are down, and nil when the state can't be
    /// determined.
    private var isConnected: Bool? {
        guard let names = folder("/sys/class/net") else { return nil }
        let states = names.filter { $0 != "lo" }.map { file("/sys/class/net/\($0)/operstate")?.trimmingWhitespace() }
        if states.contains("up") { return true }
        return states.allSatisfy { $0 == "down" || $0 == "notpresent" || $0 == "lowerlayerdown" } ? false : nil
    }

    private func line(_ path: String) -> JSONValue? {
        let text = (file(path) ?? "").prefix { $0 != "\n" }.trimmingWhitespace()
        return text.isEmpty ? nil : .string(text)
    }

    /// Returns the `NAME=value` pairs of a file.
    ///
    /// The values may be in quotes.
    private func pairs(_ path: String) -> [String: String] {
        let lines = (file(path) ?? "").split(separator: "\n").compactMap { line -> (String, String)? in
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            return (String(parts[0]), parts[1].trimmingWhitespace().filter { $0 != "\"" })
        }
        return Dictionary(lines, uniquingKeysWith: { $1 })
    }
}
