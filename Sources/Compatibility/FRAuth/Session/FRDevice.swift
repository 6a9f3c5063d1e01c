public import FRCore
import SignetCore
public import SignetJourney

/// The identifier of the device that the app runs on.
public struct FRDeviceIdentifier: Sendable, Hashable {
    /// The key under which the ForgeRock SDK keeps the identifier.
    private static let key = "com.forgerock.ios.device-identifier.hash-base64-string-identifier"

    private let text: String

    init(_ text: String) { self.text = text }

    /// Creates the identifier that a keychain service keeps.
    ///
    /// Without one, the identifier of ``FRDevice/currentDevice`` is stored there or, on a machine without a machine-id(5), a random
    /// one. It blocks the thread until the vault has it on disk. If the vault or the item cannot be read or written, nothing is
    /// replaced, and the identifier is a new one that is not stored: the next call can create a different one.
    public init(keychainService: KeychainService) {
        let new = FRDevice.currentDevice?.identifier.text ?? RandomID.uuid()
        text = keychainService.getString(Self.key, orStore: new) ?? new
    }

    /// Returns the identifier for the servers of this app.
    ///
    /// It is stable: it depends on the machine and on ``FRAuth/applicationName``, or is the one that a keychain service keeps.
    @discardableResult
    public func getIdentifier() -> String { text }
}

/// The device that the app runs on, as the app describes it to servers.
public struct FRDevice: Sendable {
    /// The device's identifier for the servers of this app.
    public let identifier: FRDeviceIdentifier

    /// The current device.
    ///
    /// Nil when the machine has no machine-id(5), because a generated identifier would differ each time.
    public static var currentDevice: FRDevice? {
        DeviceProfileCollector.identifier(for: FRAuth.applicationName).map { FRDevice(identifier: FRDeviceIdentifier($0)) }
    }

    /// Returns the device's profile, with the data that an unprivileged process can read.
    public func getProfile() async -> DeviceProfile { profile }

    /// Collects the device's profile with ``FRDeviceCollector/shared`` and calls the completion once.
    public func getProfile(completion: @escaping DeviceCollectorCallback) {
        FRDeviceCollector.shared.collect(completion: completion)
    }

    var profile: DeviceProfile { DeviceProfileCollector(identifier: identifier.getIdentifier()).collect() }
}

extension DeviceProfileCallback {
    /// Enters the profile of ``FRDevice/currentDevice``, with the parts that the server asks for.
    ///
    /// It contains no location: an app that knows the location adds it to the profile from ``FRDevice/getProfile()`` and calls
    /// ``setProfile(_:)``.
    /// - Returns: The collected profile; nil, with nothing entered, when ``FRDevice/currentDevice`` is nil.
    @discardableResult
    public func execute() -> DeviceProfile? {
        guard let profile = FRDevice.currentDevice?.profile else { return nil }
        setProfile(profile)
        return profile
    }
}
