public import Foundation
import SignetCore
import SignetJourney

/// A source of data about the device, for example one of an app.
///
/// Collectors are Sendable, because all tasks of the process share them.
public protocol DeviceCollector: Sendable {
    /// The name of the section of the profile.
    var name: String { get }
    /// Collects the data and calls the completion once.
    func collect(completion: @escaping DeviceCollectorCallback)
}

/// The collector of the device's profile, with the collectors for its sections.
public final class FRDeviceCollector: NSObject, DeviceCollector {
    /// The collector of this process, with the SDK's sections and those that the app adds.
    public static var shared: FRDeviceCollector { FRAuthProcess.current.deviceCollector }

    private let sections: Mutex<[any DeviceCollector]>

    /// The name, under which a profile contains another one.
    public let name = "profile"
    /// The collectors for the sections, in the order in which they are called.
    public var collectors: [any DeviceCollector] {
        get { sections.withLock { $0 } }
        set { sections.withLock { $0 = newValue } }
    }

    /// Creates a collector without sections.
    public override convenience init() { self.init([]) }

    init(_ collectors: [any DeviceCollector]) {
        sections = Mutex(collectors)
        super.init()
    }

    /// Collects the profile: `version`, `identifier` and the sections, one after another.
    /// - Parameter completion: Receives the profile once, where the last collector calls its completion.
    public func collect(completion: @escaping DeviceCollectorCallback) {
        var start: [String: Any] = ["version": "1.0"]
        start["identifier"] = FRDevice.currentDevice?.identifier.getIdentifier()
        Self.collect(collectors[...], after: start, completion)
    }

    /// Calls the collectors one after another and adds their data to a profile.
    static func collect(
        _ collectors: ArraySlice<any DeviceCollector>, after profile: [String: Any],
        _ completion: @escaping DeviceCollectorCallback
    ) {
        guard let first = collectors.first else { return completion(profile) }
        first.collect { data in
            collect(collectors.dropFirst(), after: profile.merging([first.name: data]) { $1 }, completion)
        }
    }
}

/// The collector of the section `metadata`, which is the device's data without its location.
public final class ProfileCollector: DeviceCollector {
    private let sections = Mutex(SectionCollector.all)

    /// The name of the section, `metadata`.
    public let name = "metadata"
    /// The collectors for the parts of the section.
    public var collectors: [any DeviceCollector] {
        get { sections.withLock { $0 } }
        set { sections.withLock { $0 = newValue } }
    }

    /// Creates a collector with the SDK's parts.
    public init() {}

    /// Collects the parts, one after another.
    public func collect(completion: @escaping DeviceCollectorCallback) {
        FRDeviceCollector.collect(collectors[...], after: [:], completion)
    }
}

/// A collector for one section of the profile that an unprivileged process can read.
///
/// The section lacks what can't be determined.
struct SectionCollector: DeviceCollector {
    /// The collectors of all sections.
    static var all: [any DeviceCollector] {
        [PlatformCollector(), HardwareCollector(), NetworkCollector(), SectionCollector(name: "bluetooth")]
    }

    let name: String

    func collect(completion: @escaping DeviceCollectorCallback) {
        completion(DeviceProfileCollector(identifier: "").collect().metadata[name]?.object?.mapValues(\.any) ?? [:])
    }
}

/// The collector of the section `platform`: the system, its version, the model and the language.
public final class PlatformCollector: DeviceCollector {
    /// The name of the section, `platform`.
    public let name = "platform"

    /// Creates a collector.
    public init() {}

    /// Collects what can be determined.
    public func collect(completion: @escaping DeviceCollectorCallback) {
        SectionCollector(name: name).collect(completion: completion)
    }
}

/// The collector of the section `hardware`: processors, memory, manufacturer and cameras.
public final class HardwareCollector: DeviceCollector {
    /// The name of the section, `hardware`.
    public let name = "hardware"

    /// Creates a collector.
    public init() {}

    /// Collects what can be determined.
    public func collect(completion: @escaping DeviceCollectorCallback) {
        SectionCollector(name: name).collect(completion: completion)
    }
}

/// The collector of the section `network`: whether a network interface is up.
public final class NetworkCollector: DeviceCollector {
    /// The name of the section, `network`.
    public let name = "network"

    /// Creates a collector.
    public init() {}

    /// Collects what can be determined.
    public func collect(completion: @escaping DeviceCollectorCallback) {
        SectionCollector(name: name).collect(completion: completion)
    }
}
