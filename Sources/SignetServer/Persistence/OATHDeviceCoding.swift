import Foundation
import SignetCore

/// The coding of an OATH device. It encodes each property separately, because the types of its settings can only be created with
/// valid values.
extension OATHDevice: Codable {
    private enum CodingKeys: CodingKey {
        case secret, algorithm, digits, period, counter, timeWindow, counterWindow, lastStep, drift, resourceID, registeredAt,
            name
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let factor: MovingFactor?
        if let counter = try container.decodeIfPresent(UInt64.self, forKey: .counter) {
            factor = .counter(next: counter)
        } else {
            factor = OTPPeriod(seconds: try container.decode(Int.self, forKey: .period)).map { .time(period: $0) }
        }
        guard let factor, let digits = OTPDigits(try container.decode(Int.self, forKey: .digits)),
            let algorithm = OTPAlgorithm(rawValue: try container.decode(String.self, forKey: .algorithm))
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .digits, in: container, debugDescription: "the settings of the OATH device are invalid")
        }
        let settings = OATHSettings(
            secret: try container.decode(Secret.self, forKey: .secret), algorithm: algorithm, digits: digits, factor: factor)
        verifier = OATHVerifier(
            settings: settings, timeWindow: try container.decode(Int.self, forKey: .timeWindow),
            counterWindow: try container.decode(Int.self, forKey: .counterWindow),
            lastAcceptedStep: try container.decodeIfPresent(UInt64.self, forKey: .lastStep),
            drift: try container.decodeIfPresent(Int.self, forKey: .drift) ?? 0)
        resourceID = try container.decode(String.self, forKey: .resourceID)
        registeredAt = try container.decodeIfPresent(Date.self, forKey: .registeredAt)
        name = try container.decodeIfPresent(String.self, forKey: .name)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let settings = verifier.settings
        try container.encode(settings.secret, forKey: .secret)
        try container.encode(settings.algorithm.rawValue, forKey: .algorithm)
        try container.encode(settings.digits.count, forKey: .digits)
        switch settings.factor {
        case .time(let period): try container.encode(period.seconds, forKey: .period)
        case .counter(let next): try container.encode(next, forKey: .counter)
        }
        try container.encode(verifier.timeWindow, forKey: .timeWindow)
        try container.encode(verifier.counterWindow, forKey: .counterWindow)
        try container.encodeIfPresent(verifier.lastAcceptedStep, forKey: .lastStep)
        if verifier.drift != 0 { try container.encode(verifier.drift, forKey: .drift) }
        try container.encode(resourceID, forKey: .resourceID)
        try container.encodeIfPresent(registeredAt, forKey: .registeredAt)
        try container.encodeIfPresent(name, forKey: .name)
    }
}
